import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectMessageForm, messagesOn } from "../support/message-form.ts";
import { AdaptersProject, installedPath, packed } from "./support/adapters-project.ts";
import { byId, type PrintedRun, type PrintedSpan, replayed } from "./support/printed-spans.ts";

interface Printed extends PrintedRun {
  /** What code in the calls saw. */
  readonly seen: Readonly<Record<string, unknown>>;
  readonly counts: Readonly<Record<string, number>>;
}

const inOrder = (spans: readonly PrintedSpan[]) =>
  [...spans].sort((a, b) => compare(a.startTime, b.startTime));

function compare(a: PrintedSpan["startTime"], b: PrintedSpan["startTime"]): number {
  return a[0] - b[0] || a[1] - b[1];
}

const text = (content: string) => [{ type: "text", content }];
const ASKED = { role: "user", parts: text("question-mark") };
const CALL = { type: "tool_call", id: "c1", name: "look", arguments: { order: "input-mark" } };
const RESULT = { type: "tool_call_response", id: "c1", response: { state: "result-mark" } };

describe.each(["mastra-oldest", "mastra-newest"])("%s", (server) => {
  let folder: string;
  let project: AdaptersProject;
  const play = (...args: readonly string[]) =>
    project.run<Printed>("mastra-content.mjs", args, ["language-model.mjs", "mastra-model.mjs"]);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "entelix-otel-mastra-"));
    const tarball = await packed(folder);
    const node = await installedPath("newer-node");
    project = await AdaptersProject.create(server, tarball, node);
  });
  afterAll(async () => {
    await project?.remove();
    await rm(folder, { recursive: true });
  });

  it("shows messages, request, usage and cost; a replay makes the same spans", async () => {
    const { rows, seen, spans, tape, troubles } = await play("shown");
    expect(troubles).toEqual([]);
    expect(expectMessageForm(spans)).toBe(8);
    const [run, first, call, second] = inOrder(spans);
    // Mastra's own ID of the trace is that of the spans.
    expect(run?.traceId).toBe(seen.traceId);
    expect(first?.attributes).toMatchObject({
      "gen_ai.provider.name": "acme",
      "gen_ai.request.temperature": 0.2,
      "gen_ai.request.max_tokens": 99,
      "gen_ai.response.id": "resp-1",
      "gen_ai.usage.reasoning.output_tokens": 1,
      "entelix.model.cost": "0.01",
    });
    expect(first && messagesOn(first, "output")).toEqual([
      { role: "assistant", parts: [CALL], finish_reason: "tool_call" },
    ]);
    expect(second && messagesOn(second, "input")).toEqual([
      { role: "system", parts: text("system-mark") },
      ASKED,
      { role: "assistant", parts: [CALL] },
      { role: "tool", parts: [RESULT] },
    ]);
    // The call of the model has ended before the tool begins, though Mastra's span has not.
    expect(first && call && compare(first.endTime, call.startTime)).toBeLessThan(0);
    expect(call?.attributes).toMatchObject({
      "gen_ai.tool.description": "looks an order up",
      "gen_ai.tool.call.arguments": '{"order":"input-mark"}',
      "gen_ai.tool.call.result": '{"state":"result-mark"}',
    });
    expect(run && messagesOn(run, "input")).toEqual([ASKED]);
    expect(run && messagesOn(run, "output")).toEqual([
      { role: "assistant", parts: text("answer-mark"), finish_reason: "stop" },
    ]);
    expect(run?.attributes).toMatchObject({
      "gen_ai.conversation.id": "t1",
      "user.id": "u1",
      "entelix.run.tags": ["support"],
      "entelix.run.metadata.mastra_run": "true",
      "entelix.agent.usage.cost": "0.02",
    });
    expect(rows.map(({ kind }) => kind)).toEqual([
      "entelix.run_started",
      "tool_call",
      "tool_result",
      "entelix.run_ended",
    ]);
    expect(await replayed(tape, true)).toEqual(byId(spans));
  });

  it("shows no content where a call's own settings hide it", async () => {
    const { spans, rows, tape, troubles } = await play("hidden");
    expect(troubles).toEqual([]);
    expect(JSON.stringify([spans, rows, tape])).not.toMatch(/(question|answer)-mark/);
    const failed = spans.find(({ name }) => name === "execute_tool fail");
    expect(failed?.attributes["entelix.tool.error_kind"]).toBe("internal");
  });

  it("sends no content unless it is captured", async () => {
    const { spans } = await play("inside");
    const keys = spans.flatMap(({ attributes }) => Object.keys(attributes));
    expect(keys.filter((key) => /messages|arguments|result|definitions/.test(key))).toEqual([]);
  });

  it("sends the same as an exporter, without context", async () => {
    const { spans, tape, troubles } = await play("exporter");
    expect(troubles).toEqual([]);
    const [run, first, second, call] = inOrder(spans).sort((a, b) => order(a) - order(b));
    expect([run?.name, first?.name, second?.name, call?.name]).toEqual([
      "invoke_agent support",
      "chat small-1",
      "chat small-1",
      "execute_tool look",
    ]);
    expect(second && messagesOn(second, "input")).toHaveLength(4);
    expect(run?.attributes).toMatchObject({ "gen_ai.usage.input_tokens": 20 });
    expect(await replayed(tape, true)).toEqual(byId(spans));
  });

  it("reports a loop as one call where spans of requests are left out; no event twice", async () => {
    const { counts, spans, troubles } = await play("filtered");
    expect(troubles).toEqual([]);
    expect(counts.duplicates).toBeGreaterThan(0);
    const [run, chat, call] = [...spans].sort((a, b) => order(a) - order(b));
    expect(spans).toHaveLength(3);
    expect(call?.attributes["entelix.tool.outcome"]).toBe("complete");
    expect(chat?.attributes).toMatchObject({
      "entelix.model.outcome": "complete",
      "gen_ai.usage.input_tokens": 20,
    });
    expect(chat && run && compare(run.startTime, chat.startTime)).toBeLessThan(0);
  });

  it("runs code inside the spans of steps, models and tools", async () => {
    const { seen, spans, troubles } = await play("inside");
    expect(troubles).toEqual([]);
    const span = (name: string) => inOrder(spans).find((each) => each.name === name);
    const ids = (each: PrintedSpan | undefined) => ({
      runId: each?.attributes["entelix.run_id"],
      spanId: each?.spanId,
    });
    expect(seen.step).toEqual(ids(span("step hello")));
    expect(seen.tool).toEqual({ ...ids(span("execute_tool ask")), toolUseId: "c1" });
    expect(spans.filter(({ name }) => name === "chat small-1").map(ids)).toContainEqual(seen.model);
    const tree = [
      ["invoke_workflow flow", "invoke_agent outer"],
      ["step hello", "invoke_workflow flow"],
      ["invoke_agent support", "step hello"],
      ["execute_tool ask", "invoke_agent support"],
      ["invoke_agent inner", "execute_tool ask"],
    ];
    for (const [name = "", above = ""] of tree) {
      expect(span(name)?.parentSpanId).toBe(span(above)?.spanId);
    }
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  });

  it("keeps tenants apart whose runs go on at once", async () => {
    const { rows, spans } = await play("tenants");
    const traces = new Map<string, Set<unknown>>();
    for (const { attributes, traceId } of spans) {
      const tenants = traces.get(traceId) ?? new Set();
      traces.set(traceId, tenants.add(attributes["entelix.tenant_id"]));
    }
    expect([...traces.values()].map((tenants) => [...tenants]).sort()).toEqual([
      ["north"],
      ["south"],
    ]);
    expect(spans).toHaveLength(8);
    for (const tenant_id of ["north", "south"]) {
      const own = rows.filter((row) => JSON.stringify(row.thread).includes(tenant_id));
      expect(own).toHaveLength(4);
    }
  });

  it("links a run that resumes in another process, with who decided", async () => {
    const file = join(folder, "paused.json");
    const paused = await play("pause", file);
    expect(
      paused.spans.map(({ name, attributes }) => [name, attributes["entelix.run.outcome"]]),
    ).toEqual([
      ["chat small-1", undefined],
      ["invoke_agent support", "interrupted"],
    ]);
    // Mastra's spans have the usage of the call before the pause only when the run resumes.
    expect(paused.spans[0]?.attributes["gen_ai.usage.input_tokens"]).toBe(10);
    const pausedRun = paused.spans[1]?.attributes["entelix.run_id"];
    const { rows, spans, tape } = await play("resume", file);
    expect(spans.map(({ name }) => name)).toEqual([
      "execute_tool pay",
      "chat small-1",
      "invoke_agent support",
    ]);
    expect(spans[2]?.links).toEqual([paused.spans[1]?.traceId]);
    expect(rows.find(({ kind }) => kind === "entelix.run_started")).toMatchObject({
      resumed_from_run_id: pausedRun,
    });
    expect(rows.find(({ kind }) => kind === "entelix.tool_call_decided")).toMatchObject({
      decision: "approved",
      by: "user",
      person: "u2",
      tool_use_id: "c1",
    });
    expect(await replayed(tape, false)).toEqual(byId(spans));
  });
});

const ORDER = ["invoke_agent", "chat", "execute_tool"];

function order({ name }: PrintedSpan): number {
  return ORDER.indexOf(name.split(" ")[0] ?? "");
}
