// An agent in a worker thread, which ends in the way that the argument says.
import { isMainThread, Worker } from "node:worker_threads";
import { runAgent } from "entelix-otel/runtime";
import { setupTracing } from "entelix-otel/setup";

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) });
  worker.on("error", ({ message }) => console.log(message));
} else {
  const way = process.argv[2];
  const tracing = setupTracing({ handleErrors: way === "throw" });
  const sink = tracing.createBridge();
  await runAgent({ sink, agent: "support", tenant: "acme" }, (run) =>
    run.model("small-1", () => 1),
  );
  if (way === "throw") throw new Error("no such order");
  if (way === "exit") process.exit();
}
