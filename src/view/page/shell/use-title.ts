import { useEffect } from "preact/hooks";
import { cut, safe } from "../../../events/format/door.ts";

/** Puts the name of the shown run before the page title, so that tabs and history tell runs apart. */
export function useTitle(shown: string | undefined): void {
  useEffect(() => {
    if (shown === undefined) return;
    const { title } = document;
    document.title = `${safe(cut(shown, 100).text)} – ${title}`;
    return () => {
      document.title = title;
    };
  }, [shown]);
}
