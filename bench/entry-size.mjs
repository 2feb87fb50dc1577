// npm run build && node bench/entry-size.mjs [--short]: how large the main entry is, and how long importing it takes.
//
// The size is that of one minified file with everything of ours that the entry reaches, without its two packages; a
// test keeps it (test/package/entry-size.test.ts). The time is CPU time of `import()` in a process that has imported
// nothing before, over that of `@opentelemetry/api` in another; nothing judges it.
import { pathToFileURL } from "node:url";
import { entrySize } from "./entry-size/size.mjs";
import { child, format, judged, median, pairs } from "./processes.mjs";

/** @param short fewer processes. @returns the tables of size and time. */
export async function entryTables({ short }) {
  const { gzip, minified } = await entrySize();
  const kib = (bytes) => (bytes / 1024).toFixed(1);
  const size = [{ "main entry": "KiB", minified: kib(minified), gzip: kib(gzip) }];
  const time = [];
  for (const [entry, name] of [
    ["api", "@opentelemetry/api (control)"],
    ["main", "entelix-otel"],
    ["uuid", "uuid, which it imports"],
  ]) {
    const made = await pairs(
      short ? 3 : 15,
      () => child("entry-size/import.mjs", ["api"]),
      () => child("entry-size/import.mjs", [entry]),
    );
    const ratios = made.map(([base, other]) => other.us / base.us);
    const { ratio, spread } = judged(ratios);
    const ms = format(median(made.map(([, other]) => other.us)) / 1000);
    time.push({ "import of": name, "ratio to the API": ratio, spread, ms });
  }
  return [size, time];
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const table of await entryTables({ short: process.argv.includes("--short") })) {
    console.table(table);
  }
}
