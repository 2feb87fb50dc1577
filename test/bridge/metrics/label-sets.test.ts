import { afterEach, describe, expect, it, vi } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { METRICS, type MetricName } from "../../../src/bridge/metrics/metric-names.ts";
import { METRIC_ATTRIBUTES } from "../../../src/bridge/metrics/metric-notes.ts";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { RunEvents } from "../../support/run-events.ts";
import { type Collected, collectMetrics } from "./meter.ts";

const AGENT = "gen_ai.agent.name";
const WORKFLOW = "gen_ai.workflow.name";
const TENANT = "entelix.tenant_id";
const TOOL = "gen_ai.tool.name";
const MODEL_CALL = ["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"];
/** Of a call whose source names the model that answered, and its server. */
const WHOLE_CALL = [...MODEL_CALL, "gen_ai.response.model", "server.address", "server.port"];
const TOKENS = [
  [...MODEL_CALL, "gen_ai.token.modality"],
  [...WHOLE_CALL, "gen_ai.token.modality"],
];
const FALLIBLE = [MODEL_CALL, [...MODEL_CALL, "error.type"], WHOLE_CALL];

/**
 * Every set of labels that there may be. Each label multiplies the series of its metric, so that one
 * more is a decision: it is taken here, not in passing.
 */
const SETS: Readonly<Record<MetricName, readonly (readonly string[])[]>> = {
  "gen_ai.invoke_agent.duration": [[AGENT], [AGENT, "error.type"]],
  "gen_ai.invoke_workflow.duration": [[WORKFLOW], [WORKFLOW, "error.type"]],
  "gen_ai.execute_tool.duration": [
    [TOOL, "gen_ai.tool.type", AGENT],
    [TOOL, "gen_ai.tool.type", AGENT, "error.type"],
  ],
  "gen_ai.invoke_agent.tool_calls": [[AGENT]],
  "gen_ai.invoke_agent.inference_calls": [[AGENT]],
  "gen_ai.client.inference.duration": FALLIBLE,
  "gen_ai.client.inference.time_to_first_chunk": [WHOLE_CALL],
  "gen_ai.client.operation.duration": FALLIBLE,
  "gen_ai.client.inference.operation.input_tokens": FALLIBLE,
  "gen_ai.client.inference.operation.output_tokens": FALLIBLE,
  "gen_ai.client.inference.usage.input_tokens": TOKENS,
  "gen_ai.client.inference.usage.output_tokens": TOKENS,
  "gen_ai.client.inference.usage.cache_read.input_tokens": [TOKENS[1] ?? []],
  "gen_ai.client.inference.usage.cache_write.input_tokens": [TOKENS[1] ?? []],
  "gen_ai.client.inference.usage.reasoning.output_tokens": [TOKENS[1] ?? []],
  "gen_ai.client.token.usage": FALLIBLE.map((set) => [...set, "gen_ai.token.type"]),
  "gen_ai.client.operation.time_to_first_chunk": [WHOLE_CALL],
  "entelix.runs": [
    ["entelix.run.outcome", AGENT, TENANT, "entelix.root"],
    [
      "entelix.run.outcome",
      "entelix.failure.kind",
      "entelix.failure.origin",
      AGENT,
      TENANT,
      "entelix.root",
    ],
  ],
  "entelix.runs.working_time": [[AGENT, TENANT]],
  "entelix.runs.active": [[AGENT, TENANT]],
  "entelix.runs.waiting": [["entelix.run.waits_for", AGENT]],
  "entelix.runs.idle.max": [["entelix.run.waits_for", AGENT]],
  "entelix.failures": [["entelix.failure.fingerprint"]],
  "entelix.runs.looping": [["entelix.run.loop", TOOL, AGENT, TENANT]],
  "entelix.runs.degraded": [[TOOL, AGENT, TENANT]],
  "entelix.tool.failures": [[TOOL, "entelix.tool.error_kind", AGENT, TENANT]],
  "entelix.tool.cancelled": [[TOOL, AGENT, TENANT]],
  "entelix.tool.terminal_failures": [[TOOL, "entelix.tool.error_kind", AGENT, TENANT]],
  "entelix.approvals.pending": [[AGENT, TENANT]],
  "entelix.approvals.oldest": [[TENANT]],
  "entelix.tokens": [["gen_ai.token.type", AGENT, TENANT]],
  "entelix.cost": [[AGENT, TENANT]],
  "entelix.bridge.events": [[]],
  "entelix.bridge.ignored": [["entelix.reason"]],
  "entelix.bridge.adjustments": [["entelix.reason"], ["entelix.reason", TENANT]],
  "entelix.bridge.open_runs": [[]],
  "entelix.bridge.label_overflow": [["entelix.label"]],
  // `setupTelemetry` alone makes it: its test is in test/bridge/setup.
  "entelix.bridge.spans_dropped": [["entelix.reason"]],
  "entelix.audit.append_failures": [[]],
};

/** Everything that can happen to runs and calls, of tools and models. */
async function everything(): Promise<Collected> {
  vi.stubEnv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai/dup");
  const meter = collectMetrics();
  const bridge = new Bridge({ meterProvider: meter.provider, audit: new MemorySessionLog() });
  const send = (event: Parameters<Bridge["send"]>[0], envelope = {}) => {
    void bridge.send(event, envelope);
  };
  const [root, child, paused, lost] = ["root", "child", "paused", "lost"].map(
    (id) => new RunEvents(id),
  );
  if (!root || !child || !paused || !lost) throw new Error("four runs");
  send(root.started("coordinator"), { thread_id: "th-1", event_id: "e-1" });
  send(root.approved("a"));
  send(root.toolStart("a"));
  send(child.started("team", "root"));
  send(child.toolComplete("b"));
  send(child.toolError("c"));
  send(child.toolInterrupted("d"));
  send(child.toolCancelled("f"));
  send(child.denied("e"));
  send(child.modelStart("m1"));
  send(child.modelComplete("m1", { usage: { input_tokens: 1, output_tokens: 1 } }));
  send(child.modelError("m2", { usage: { input_tokens: 1, output_tokens: 1 } }));
  const server = { server_address: "api.example.com", server_port: 443 };
  const usage = {
    input_tokens: 3,
    output_tokens: 2,
    cache_read_input_tokens: 1,
    cache_write_input_tokens: 1,
    reasoning_output_tokens: 1,
  };
  const answer = { response_model: "small-1-2026", first_output_ms: 5, usage };
  send(child.modelStart("m3", server));
  send(child.modelComplete("m3", answer));
  send(child.failed());
  const kind = { type: "tool_error_terminal", kind: "auth", tool_name: "fetch" } as const;
  send(root.failed({ kind }));
  const workflows = [new RunEvents("workflow-1"), new RunEvents("workflow-2")] as const;
  for (const each of workflows) send(each.started(), { details: { operation: "invoke_workflow" } });
  send(workflows[0].complete());
  send(workflows[1].failed());
  send(paused.started());
  send(paused.interrupted({ kind: { type: "approval_pending", tool_use_id: "a" } }));
  send(paused.started());
  send(paused.toolError("g"));
  send(
    paused.complete({
      usage: { requests: 1, input_tokens: 1, output_tokens: 1, tool_calls: 0, cost_usd: "1" },
    }),
  );
  for (let n = 0; n < 7; n++) {
    send(lost.toolStart(`l${n}`));
    send(lost.toolComplete(`l${n}`));
  }
  send(lost.toolStart("x"));
  // What open runs wait for is counted when it is asked.
  await meter.collect();
  await bridge.shutdown();
  return meter.collect();
}

afterEach(() => void vi.unstubAllEnvs());

/** Labels that only some series of their metric have. */
const OPTIONAL = [
  "error.type",
  "entelix.failure.kind",
  "entelix.failure.origin",
  "gen_ai.response.model",
  "server.address",
  "server.port",
];

describe("the sets of labels", () => {
  it("are exactly these", async () => {
    const seen = await everything();
    const found = Object.fromEntries(
      seen.names.map((name) => {
        const sets = seen.points(name).map(({ attributes }) => Object.keys(attributes).join());
        return [name, [...new Set(sets)].toSorted()];
      }),
    );
    const expected = Object.fromEntries(
      Object.entries(SETS)
        .filter(([name]) => name !== "entelix.bridge.spans_dropped")
        .map(([name, sets]) => [name, sets.map((set) => set.join()).toSorted()]),
    );
    expect(found).toEqual(expected);
  });

  it("have the labels of the table, in its order, and all of those that are not optional", () => {
    for (const [name, { attributes }] of Object.entries(METRICS)) {
      const sets = Object.entries(SETS).find(([each]) => each === name)?.[1] ?? [];
      const used = new Set(sets.flat());
      expect([name, attributes.filter((each) => used.has(each))]).toEqual([name, attributes]);
      const optional = name === "entelix.bridge.adjustments" ? [...OPTIONAL, TENANT] : OPTIONAL;
      for (const set of sets) {
        expect([name, attributes.filter((each) => set.includes(each))]).toEqual([name, set]);
        const absent = attributes.filter((each) => !set.includes(each));
        expect(optional).toEqual(expect.arrayContaining(absent));
      }
    }
  });

  it("hold no label without a meaning, and no meaning is without a label", () => {
    const used = new Set(Object.values(METRICS).flatMap(({ attributes }) => [...attributes]));
    expect([...used].toSorted()).toEqual(Object.keys(METRIC_ATTRIBUTES).toSorted());
  });
});
