import { readFileSync } from "node:fs";
import { apiPages } from "../generate-docs/api-pages.mjs";

/** The committed report of the public interface is that of the build. */
export function checkApiPages(fact) {
  const pages = apiPages();
  const stale = [...pages].filter(([name, text]) => committed(name) !== text);
  if (stale.length > 0) {
    const names = stale.map(([name]) => `docs/api/${name}.md`).join(", ");
    throw new Error(`stale: ${names}. Run npm run build && npm run docs, and read the difference`);
  }
  fact(`${pages.size} entries`);
}

function committed(name) {
  try {
    return readFileSync(new URL(`../../docs/api/${name}.md`, import.meta.url), "utf8");
  } catch {
    return undefined;
  }
}
