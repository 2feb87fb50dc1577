// Bundles the Worker of the page and calls it twice at the same time in workerd.
import { build } from "esbuild";
import { Miniflare } from "miniflare";

await build({
  entryPoints: ["worker.mjs"],
  bundle: true,
  format: "esm",
  platform: "node",
  outfile: "worker.js",
  logLevel: "error",
});
const bindings = Object.entries(process.env).filter(([name]) => name.startsWith("OTEL_"));
let told = "";
const worker = new Miniflare({
  handleRuntimeStdio(stdout, stderr) {
    for (const stream of [stdout, stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        told += text;
      });
    }
  },
  modules: [{ type: "ESModule", path: "worker.js" }],
  compatibilityDate: "2026-05-01",
  compatibilityFlags: ["nodejs_compat"],
  bindings: Object.fromEntries(bindings),
  host: "127.0.0.1",
  port: 0,
});
try {
  const ask = async () => (await worker.dispatchFetch("http://localhost/")).text();
  for (const answer of await Promise.all([ask(), ask()])) {
    if (answer !== "Order 17 is sent.") throw new Error(`unexpected answer: ${answer}`);
  }
  if (told !== "") throw new Error(`unexpected messages: ${told}`);
} finally {
  await worker.dispose();
}
