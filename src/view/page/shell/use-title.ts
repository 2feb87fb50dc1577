import { useEffect } from "preact/hooks";
import { cut, safe } from "../../model/text.ts";

/** Puts what is shown before the title of the page: tabs and the history of the browser tell runs apart by it. */
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
