// Bundles the Worker of the page and calls it once in workerd.
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
const worker = new Miniflare({
  modules: [{ type: "ESModule", path: "worker.js" }],
  compatibilityDate: "2026-05-01",
  compatibilityFlags: ["nodejs_compat"],
  bindings: Object.fromEntries(bindings),
  host: "127.0.0.1",
  port: 0,
});
try {
  const response = await worker.dispatchFetch("http://localhost/");
  const answer = await response.text();
  if (answer !== "Order 17 is sent.") throw new Error(`unexpected answer: ${answer}`);
} finally {
  await worker.dispose();
}
