import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { collectSpans } from "../../support/spans.ts";

const RUN = "018f3c7a-0000-7000-8000-0000000000ab";
const CHILD = "018f3c7a-0000-7000-8000-0000000000cd";

describe("audit rows of a run whose id comes in capitals too", () => {
  it("stand in one thread, under the run id that its span has", async () => {
    const { provider, spans } = collectSpans();
    const log = new MemorySessionLog();
    const bridge = new Bridge({ mode: "replay", tracerProvider: provider, audit: log });
    const call = { tenant_id: "acme", tool_use_id: "call_1", tool: "fetch" };
    const timestamp = "2026-04-29T12:00:00Z";
    const capitals = RUN.toUpperCase();
    const run = { type: "started", tenant_id: "acme", agent: "react" } as const;
    void bridge.send({ ...run, run_id: capitals }, { timestamp });
    void bridge.send({ type: "tool_start", ...call, run_id: RUN, input: {} }, { timestamp });
    const ended = { type: "tool_complete", ...call, duration_ms: 0, output: "ok" } as const;
    void bridge.send({ ...ended, run_id: capitals }, { timestamp });
    void bridge.send({ ...run, run_id: CHILD, parent_run_id: RUN }, { timestamp });
    const inChild = {
      type: "tool_start",
      ...call,
      run_id: CHILD.toUpperCase(),
      input: {},
    } as const;
    void bridge.send(inChild, { timestamp });
    await bridge.shutdown();
    const rows = await log.loadSince({ tenant_id: "acme", thread_id: RUN }, 0);
    expect(rows.map(({ ordinal, run_id }) => [ordinal, run_id])).toEqual([
      [1, RUN],
      [2, RUN],
      [3, RUN],
      [4, CHILD],
      [5, CHILD],
    ]);
    expect(new Set(spans().map((span) => span.attributes["entelix.run_id"]))).toEqual(
      new Set([RUN, CHILD]),
    );
  });
});
