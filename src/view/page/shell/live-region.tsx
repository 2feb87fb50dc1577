import { useEffect, useState } from "preact/hooks";
import { cut, safe } from "../../../events/format/door.ts";

let show: (message: string) => void = () => {};

/** Longest message: names in it come from outside. */
const MOST = 300;

/** Announces a change to screen readers. Later messages replace earlier ones. */
export function announce(message: string): void {
  show(safe(cut(message, MOST).text));
}

/** The element that screen readers read messages from. It must be on the page before the first message. */
export function LiveRegion() {
  const [message, setMessage] = useState("");
  useEffect(() => {
    show = setMessage;
    return () => {
      show = () => {};
    };
  }, []);
  return (
    <div aria-live="polite" class="visually-hidden" role="status">
      {message}
    </div>
  );
}
