import { options } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Whether the page is being printed. What changes because of it is on the page before the browser prints. */
export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const query = matchMedia("print");
    const set = (value: boolean) => {
      // Preact renders later by default, and then the page is printed already.
      const { debounceRendering } = options;
      options.debounceRendering = (render) => render();
      setPrinting(value);
      if (debounceRendering === undefined) delete options.debounceRendering;
      else options.debounceRendering = debounceRendering;
    };
    const onBefore = () => set(true);
    const onAfter = () => set(query.matches);
    const onChange = () => set(query.matches);
    addEventListener("beforeprint", onBefore);
    addEventListener("afterprint", onAfter);
    query.addEventListener("change", onChange);
    return () => {
      removeEventListener("beforeprint", onBefore);
      removeEventListener("afterprint", onAfter);
      query.removeEventListener("change", onChange);
    };
  }, []);
  return printing;
}
