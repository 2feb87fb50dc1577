import { options } from "preact";
import { useEffect, useState } from "preact/hooks";

const query = matchMedia("print");
const listeners = new Set<(printing: boolean) => void>();
/** The first rendering needs the value. */
let printing = query.matches;

addEventListener("beforeprint", () => set(true));
addEventListener("afterprint", () => set(query.matches));
query.addEventListener("change", () => set(query.matches));

/** Whether the page is being printed. The page is rendered again before the browser prints it. */
export function usePrinting(): boolean {
  const [value, setValue] = useState(printing);
  useEffect(() => {
    listeners.add(setValue);
    setValue(printing);
    return () => {
      listeners.delete(setValue);
    };
  }, []);
  return value;
}

function set(value: boolean): void {
  printing = value;
  // Preact renders later by default, after the page was printed.
  const { debounceRendering } = options;
  options.debounceRendering = (render) => render();
  for (const listener of listeners) listener(value);
  if (debounceRendering === undefined) delete options.debounceRendering;
  else options.debounceRendering = debounceRendering;
}
