// npm run build && node bench/entry-size.mjs [--short] [--write]: how large the main entry is, how long importing it
// takes, and how long the command line takes to start.
//
// The size is that of one minified file with everything of ours that the entry reaches, without its packages; a test
// limits it (test/package/entry-size.test.ts). Times are CPU time: of an `import()` in a process that has imported
// nothing before, relative to that of `@opentelemetry/api` in another; and of a whole process.
import { once } from "node:events";
import { entrySize } from "./entry-size/size.mjs";
import { show } from "./page.mjs";
import { child, format, judged, median, pairs, short } from "./processes.mjs";
import { measured } from "./view-open/measured.mjs";

const { gzip, minified } = await entrySize();
const kib = (bytes) => (bytes / 1024).toFixed(1);
const size = [{ "main entry": "KiB", minified: kib(minified), gzip: kib(gzip) }];
show("entry-size", size, "one build");

const count = short ? 1 : 15;
const imports = [];
for (const [entry, name] of [
  ["api", "`@opentelemetry/api` (control)"],
  ["main", "`entelix-otel`"],
  ["setup", "`entelix-otel/setup`"],
]) {
  const made = await pairs(
    count,
    () => child("entry-size/import.mjs", ["api"]),
    () => child("entry-size/import.mjs", [entry]),
  );
  const { ratio, spread } = judged(made.map(([base, other]) => other.us / base.us));
  const above = median(made.map(([base, other]) => other.us - base.us)) / 1000;
  const ms = median(made.map(([, other]) => other.us)) / 1000;
  imports.push({
    "import of": name,
    "relative to the API": ratio,
    spread,
    "CPU, ms": format(ms),
    "above the API, ms": format(above),
  });
}
show("import", imports, "medians of 15 processes");

/** CPU time of a command of the package, or of Node alone, in ms. */
async function start(args) {
  const { child: started, costs } = measured(args);
  started.stdout.resume();
  await once(started, "close");
  return costs.at(-1).cpuS * 1000;
}

const starts = [];
for (const [name, args] of [
  ["Node alone (control)", undefined],
  ["`entelix-otel --help`", ["--help"]],
  ["`entelix-otel --version`", ["--version"]],
]) {
  const made = await pairs(
    count,
    () => start(undefined),
    () => start(args),
  );
  const above = made.map(([base, other]) => other - base);
  starts.push({
    "start of": name,
    "CPU, ms": Math.round(median(made.map(([, other]) => other))),
    "above Node alone, ms": Math.round(median(above)),
    spread: `${Math.round(Math.min(...above))}–${Math.round(Math.max(...above))}`,
  });
}
show("start", starts, "medians of 15 processes");
