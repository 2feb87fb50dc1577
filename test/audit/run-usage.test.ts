import { describe, expect, it } from "vitest";
import { AuditSink, MemorySessionLog } from "../../src/audit/door.ts";
import type { AgentEvent, EventDetails } from "../../src/events/door.ts";

const RUN = { run_id: "0199b1d2-0000-7000-8000-000000000001", tenant_id: "acme" };
const USAGE = {
  requests: 2,
  input_tokens: 2n ** 60n,
  output_tokens: 30,
  tool_calls: 1,
  cost_usd: "0.30",
  cache_read_input_tokens: 10,
};
const envelope = { wire_code: "cancelled", wire_class: "client", cancelled: true } as const;

const ENDS: Record<string, { event: AgentEvent; details?: EventDetails }> = {
  complete: { event: { ...RUN, type: "complete", state: null, usage: USAGE } },
  failed: {
    event: { ...RUN, type: "failed", error: "e", envelope, kind: { type: "model_dispatch" } },
    details: { usage: USAGE },
  },
  cancelled: {
    event: { ...RUN, type: "failed", error: "e", envelope, kind: { type: "cancelled" } },
    details: { usage: USAGE },
  },
  limited: {
    event: { ...RUN, type: "failed", error: "e", envelope, kind: { type: "usage_limit_exceeded" } },
    details: { usage: USAGE },
  },
  interrupted: {
    event: { ...RUN, type: "interrupted", kind: { type: "custom" }, payload: null },
    details: { usage: USAGE },
  },
};

async function endRow(event: AgentEvent, details?: EventDetails): Promise<unknown> {
  const log = new MemorySessionLog();
  await new AuditSink({ log }).send(event, details === undefined ? {} : { details });
  const rows = await log.loadSince({ tenant_id: "acme", thread_id: RUN.run_id }, 0);
  for (const { event: row } of rows) {
    if (row.kind === "entelix.run_ended" && "usage" in row) return row.usage;
  }
  return undefined;
}

describe("the row of a run's end has its usage", () => {
  it.each(Object.entries(ENDS))("%s", async (_, { details, event }) => {
    expect(await endRow(event, details)).toEqual({ ...USAGE });
  });

  const part: [string, object, unknown][] = [
    ["an unknown cost", { ...USAGE, cost_usd: "0" }, { ...USAGE, cost_usd: undefined }],
    ["a cost as number", { cost_usd: 1e-7 }, { cost_usd: "0.0000001" }],
    [
      "a part above its whole",
      { input_tokens: 1, cache_read_input_tokens: 2 },
      { input_tokens: 1 },
    ],
    ["wrong types", { input_tokens: "7", output_tokens: -1, cost_usd: "free" }, undefined],
    ["nothing", {}, undefined],
  ];
  it.each(part)("leaves out what is not known: %s", async (_, given, expected) => {
    // biome-ignore lint/suspicious/noExplicitAny: untyped programs send other types.
    const usage = given as any;
    expect(await endRow({ ...RUN, type: "complete", state: null, usage })).toEqual(expected);
  });
});
