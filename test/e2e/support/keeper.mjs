// Lives beside the tests and clears away what they leave behind. The tests tell it by lines on its standard input:
// `+process PID` and `+folder PATH` when one is there, the same with `-` when it is gone. When the tests end, in
// whatever way, that input ends.
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";

const left = new Set();
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const what = line.slice(1);
  if (line.startsWith("+")) left.add(what);
  else left.delete(what);
});
lines.on("close", () => {
  const named = (kind) =>
    [...left].filter((what) => what.startsWith(kind)).map((what) => what.slice(kind.length));
  for (const pid of named("process ")) {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
  for (const folder of named("folder ")) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
});
