import { useEffect, useState } from "preact/hooks";
import { cut, safe } from "../../../events/format/door.ts";

let tell: (message: string) => void = () => {};

/** Longest message, as names in it are from outside. */
const MOST = 300;

/** Tells users of screen readers what has changed, when they pause. Later messages replace earlier ones. */
export function announce(message: string): void {
  tell(safe(cut(message, MOST).text));
}

/** The one place that screen readers read messages from. It must be on the page before the first message. */
export function LiveRegion() {
  const [message, setMessage] = useState("");
  useEffect(() => {
    tell = setMessage;
    return () => {
      tell = () => {};
    };
  }, []);
  return (
    <div aria-live="polite" class="visually-hidden" role="status">
      {message}
    </div>
  );
}
