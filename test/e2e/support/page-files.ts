import { readFileSync } from "node:fs";

/** The files that a page of `docs/` shows, by name: blocks of `js` below a line with only the name. */
export function pageFiles(page: string): ReadonlyMap<string, string> {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), "utf8");
  const blocks = text.matchAll(/^`([\w./-]+)`:\n\n```js\n(.*?)^```$/gms);
  return new Map([...blocks].map(([, name = "", program = ""]) => [name, program]));
}
