import { expect, it } from "vitest";
import { MemorySessionLog } from "../../../../src/entries/audit.ts";
import { type AgentEvent, Bridge } from "../../../../src/index.ts";
import { RunEvents, second } from "../../../support/run-events.ts";
import { collectSpans } from "../../../support/spans.ts";
import { line } from "./log-lines.ts";
import { replayed } from "./replayed.ts";

const ID = "018f3c7a-0000-7000-8000-0000000000ab";
const run = new RunEvents(ID);

/** How run and call ended: in the trace of the agent, and in that of its rows. */
async function ends(ending: AgentEvent) {
  const log = new MemorySessionLog();
  const live = collectSpans();
  const bridge = new Bridge({ mode: "replay", audit: log, tracerProvider: live.provider });
  const events = [run.started(), run.toolStart("c1"), ending, run.complete()];
  for (const [at, event] of events.entries()) {
    await bridge.send(event, { thread_id: "th", timestamp: second(at) });
  }
  await bridge.shutdown();
  const rows = await log.loadSince({ tenant_id: run.tenant_id, thread_id: "th" }, 0);
  const again = await replayed(
    rows.map(({ event }, at) => line(at, Object(event), { run_id: ID })),
  );
  return [live.spans(), again.spans].map((spans) =>
    spans.map(({ attributes, status }) => [
      attributes["entelix.tool.outcome"] ?? attributes["entelix.run.outcome"],
      attributes["entelix.run.degraded"],
      status.code,
    ]),
  );
}

it.each([
  ["was cancelled", run.toolCancelled("c1"), ["cancelled", undefined, 0], undefined],
  ["failed", run.toolError("c1"), ["error", undefined, 2], ["fetch"]],
  ["succeeded", run.toolComplete("c1"), ["complete", undefined, 0], undefined],
])("rows of a call that %s make the spans of its events", async (_, ending, call, degraded) => {
  const [live, again] = await ends(ending);
  expect(live).toEqual([call, ["complete", degraded, 0]]);
  expect(again).toEqual(live);
});
