import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { runAgent } from "../../src/agents/door.ts";
import { MemorySessionLog } from "../../src/audit/door.ts";
import { Bridge } from "../../src/bridge/door.ts";
import { type AgentEvent, type EventEnvelope, RecorderSink } from "../../src/events/door.ts";
import { collectSpans } from "../support/spans.ts";

const RUN = { run_id: "0199b1d2-0000-7000-8000-000000000001", tenant_id: "acme" };
const CALL = { ...RUN, tool_use_id: "c1", tool: "look" };
const envelope = { wire_code: "internal", wire_class: "server" } as const;
const usage = { requests: 1, input_tokens: 2, output_tokens: 3, tool_calls: 1 };

/** What a program sends that leaves out all optional fields. The first time is given, so that rows can be compared. */
const EVENTS: readonly (readonly [AgentEvent, EventEnvelope?])[] = [
  [{ type: "started", ...RUN, agent: "a" }],
  [{ type: "model_start", ...RUN, model_call_id: "m1" }],
  [{ type: "model_complete", ...RUN, model_call_id: "m1", duration_ms: 5 }],
  [{ type: "tool_call_asked", ...CALL }],
  [
    { type: "tool_call_approved", ...CALL },
    { sequence: 1, details: { decision: {} } },
  ],
  [{ type: "tool_start", ...CALL, input: { q: 1 } }, { details: { mcp: {} } }],
  [{ type: "tool_complete", ...CALL, duration_ms: 1, output: null }, { details: {} }],
  [{ type: "tool_call_denied", ...CALL, tool_use_id: "c2", reason: "no" }],
  [{ type: "step_start", ...RUN, step_id: "s1", step: "plan" }],
  [{ type: "step_complete", ...RUN, step_id: "s1", step: "plan", duration_ms: 1 }],
  [{ type: "complete", ...RUN, state: null, usage }],
  [{ type: "started", ...RUN, run_id: "r2", agent: "b" }, {}],
  [{ type: "failed", ...RUN, run_id: "r2", error: "boom", envelope }, { details: {} }],
  [{ type: "started", ...RUN, run_id: "r3", agent: "c" }],
  [{ type: "interrupted", ...RUN, run_id: "r3", kind: { type: "custom" }, payload: null }],
];

/** All optional fields of events, envelopes and their details, and names of this package's own objects. */
const NAMES = [
  ...["parent_run_id", "tool_version", "usage", "kind", "cost_usd", "cache_read_input_tokens"],
  ...["model", "operation", "provider", "server_address", "server_port", "parameters", "tools"],
  ...["system_instructions", "input", "output", "response_model", "response_id", "retries"],
  ...["first_output_ms", "finish_reasons", "retry_after_secs", "provider_status", "origin"],
  ...["cancelled", "breach", "event_id", "sequence", "thread_id", "session_id", "root_run_id"],
  ...["resumed_from_run_id", "parent_tool_use_id", "traceparent", "tracestate", "details"],
  ...["user_id", "tags", "metadata", "happened_at", "step_id", "handoff_from", "tool_use_id"],
  ...["call_key", "tool_description", "decision", "model_text", "exception", "cost_known"],
  ...["own_usage", "mcp", "recorder", "by", "person", "reason", "wait_ms", "proposed_input"],
  ...["method", "protocol_version", "request_id", "status_code", "transport", "elicitation"],
  ...["event_id_added", "cut", "waitMs", "version", "openRuns", "agents", "repeat", "extend"],
];

const ADDED = { configurable: true, writable: true };
const added: string[] = [];
function pollute(name: string, value: unknown, enumerable = true): void {
  added.push(name);
  Object.defineProperty(Object.prototype, name, { value, ...ADDED, enumerable });
}
/** Before `expect`, which would read it. */
function clean(): void {
  for (const name of added.splice(0)) Reflect.deleteProperty(Object.prototype, name);
}
afterEach(clean);

/** What the events leave behind, without IDs and times. */
async function sent(prepare: () => void): Promise<readonly string[]> {
  const { provider, spans } = collectSpans();
  const rows: unknown[] = [];
  const lines = new PassThrough();
  const log = new MemorySessionLog();
  const append = log.append.bind(log);
  log.append = (key, entries, ...rest) => {
    rows.push([key, ...entries.map(({ event }) => event)]);
    return append(key, entries, ...rest);
  };
  prepare();
  const bridge = new Bridge({ tracerProvider: provider, audit: log, captureContent: true });
  const recorder = new RecorderSink({ stream: lines });
  for (const [event, around] of EVENTS) {
    void recorder.send(event, around);
    void bridge.send(event, around);
  }
  clean();
  await bridge.forceFlush();
  const shown = spans().map(({ attributes, events, name, status }) => [
    name,
    Object.entries(attributes).filter(([, value]) => typeof value === "string"),
    events.map((event) => [event.name, event.attributes]),
    status,
  ]);
  const all = [...shown, ...rows, String(lines.read())].map((each) => JSON.stringify(each));
  return all.map((text) =>
    text
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]*Z/g, "TIME")
      .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, "ID")
      .replaceAll(/[\da-f]{64}/g, "HASH"),
  );
}

describe("what other code added to Object.prototype", () => {
  it("is in no span, row or recorded line", async () => {
    const usual = await sent(() => {});
    expect(usual.length).toBe(18);
    for (const name of NAMES) {
      for (const value of ["evil", { type: "evil" }]) {
        const left = await sent(() => pollute(name, value));
        expect([name, ...left]).toEqual([name, ...usual]);
      }
    }
  });

  it("is not read if it is not enumerable", async () => {
    const usual = await sent(() => {});
    for (const name of ["thread_id", "details", "parent_run_id"]) {
      expect(await sent(() => pollute(name, "evil", false))).toEqual(usual);
    }
  });

  it("sets nothing of an agent's run", async () => {
    const { provider, spans } = collectSpans();
    const bridge = new Bridge({ tracerProvider: provider });
    for (const name of ["threadId", "user", "session", "thread_id", "provider", "output"]) {
      pollute(name, "evil");
    }
    for (const name of ["deadlineMs", "toolCalls", "tokens"]) pollute(name, 1);
    for (const name of ["details", "parent", "tags", "metadata"]) pollute(name, { evil: "evil" });
    pollute("denied", "evil");
    pollute("extend", () => {});
    const options = { sink: bridge, agent: "a", tenant: "acme", budget: { requests: 9 } };
    const approve = () => ({ approved: true });
    const answer = await runAgent({ ...options, approve }, async (run) => {
      await run.tool("one", () => 1);
      await run.tool("two", { input: { id: 1 } }, () => 2);
      await run.model("small-1", (call) => {
        call.report({ usage: { input_tokens: 1, output_tokens: 1 } });
        return "text";
      });
      return run.step("plan", () => 3);
    }).finally(clean);
    expect(answer).toBe(3);
    const all = spans();
    expect(all.map(({ name }) => name)).toEqual([
      "execute_tool one",
      "execute_tool two",
      "chat small-1",
      "step plan",
      "invoke_agent a",
    ]);
    expect(JSON.stringify(all.map(({ attributes }) => attributes))).not.toContain("evil");
  });

  it("does not hide fields of an event's class", () => {
    const { provider, spans } = collectSpans();
    const bridge = new Bridge({ tracerProvider: provider });
    class Start {
      readonly type = "started";
      readonly run_id = "r1";
      readonly tenant_id = "acme";
      get agent(): string {
        return "of the class";
      }
    }
    pollute("agent", "evil");
    void bridge.send(new Start());
    void bridge.send({ type: "complete", run_id: "r1", tenant_id: "acme", state: null });
    clean();
    expect(spans().map(({ name }) => name)).toEqual(["invoke_agent of the class"]);
  });
});
