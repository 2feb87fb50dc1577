// Two setups, of the copies of the package that `import` and `require` load. The argument says which of them is slow.
import { createRequire } from "node:module";
import { startRun } from "entelix-otel/runtime";
import * as esm from "entelix-otel/setup";

const cjs = createRequire(import.meta.url)("entelix-otel/setup");
const copies = { esm, cjs };
for (const [name, { setupTracing }] of Object.entries(copies)) {
  const tracing = setupTracing({ handleSignals: true, register: name === "esm" });
  await startRun({ sink: tracing.createBridge(), agent: name, tenant: "acme" });
  if (process.argv[2] !== name) continue;
  tracing.own({ shutdown: () => new Promise((resolve) => setTimeout(resolve, 200)) });
}
console.log("waits");
setInterval(() => {}, 1000);
