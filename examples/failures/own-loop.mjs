// Every failure of `cases.mjs` in a loop of one's own.
//
//   node examples/failures/own-loop.mjs
import { renderForLlm } from "entelix-otel";
import { runAgent } from "entelix-otel/runtime";
import { report } from "./report.mjs";

await report(async (failure, sink) => {
  const abort = new AbortController();
  const options = {
    sink,
    agent: "support",
    tenant: "acme",
    ...(failure.cut === "user" ? { signal: abort.signal } : {}),
    ...(failure.cut === "deadline" ? { deadlineMs: 30 } : {}),
  };
  if (failure.cut === "user") setTimeout(() => abort.abort(), 30);
  await runAgent(options, (run) => agent(run, failure)).catch(() => {});
});

/** One question to the model, the tools that it asks for, and its last word. */
async function agent(run, { asks = [], child, model, ownCode, told, tools = {} }) {
  if (ownCode !== undefined) throw ownCode();
  await run.model("small-1", async () => {
    if (model !== undefined) throw model();
  });
  await Promise.all(asks.map((name) => callTool(name)));
  return run.model("small-1", async () => "Done.");

  async function callTool(name) {
    const work = tools[name] ?? (() => runAgent({ agent: "expert" }, (run) => agent(run, child)));
    try {
      return await run.tool(name, { id: `call_${name}`, input: {} }, work);
    } catch (error) {
      if (!told) throw error;
      return renderForLlm(error, { origin: "tool" });
    }
  }
}
