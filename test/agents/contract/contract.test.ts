import { describe, expect, it, vi } from "vitest";
import { withCurrentRun } from "../../../src/agents/runtime/active-run.ts";
import { AuditSink, MemorySessionLog } from "../../../src/entries/audit.ts";
import type { InnerSink } from "../../../src/entries/sinks.ts";
import { type AgentEvent, type ContentNeed, setUnclassifiedWarning } from "../../../src/index.ts";
import { keepingSink, type Told } from "../../support/told.ts";
import { type CommonOptions, type Driver, MARKS, type Scene } from "./driver.ts";
import { DRIVERS } from "./drivers/all.ts";
import { runtime } from "./drivers/runtime.ts";

// What each adapter promises, whatever its framework is. What only one has is tested beside it.

setUnclassifiedWarning(() => {});

const TERMINAL: ReadonlySet<AgentEvent["type"]> = new Set(["complete", "failed", "interrupted"]);

/** Plays a scene into a sink that keeps all events. */
async function play(
  driver: Driver,
  scene: Scene = {},
  options: Partial<CommonOptions> = {},
  contentNeed: ContentNeed = "all",
) {
  const kept = keepingSink(contentNeed);
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const given = { sink: kept.sink, tenant: "acme", onError, ...options };
  return { ...kept, errors, ...(await driver.play(given, scene)) };
}

/** The rows of ends in the thread of an event's run. */
async function endsIn(log: MemorySessionLog, first: Told | undefined) {
  const { run_id = "" } = first?.event ?? {};
  const thread_id = first?.envelope.thread_id ?? run_id;
  const rows = await log.loadSince({ tenant_id: "acme", thread_id }, 0);
  return rows.map((row) => row.event).filter(({ kind }) => kind === "entelix.run_ended");
}

/** For scenes that a framework may not have. */
const where = (isSo: boolean) => (isSo ? it : undefined);

const fails = (text: string) => () => {
  throw new Error(text);
};

describe.each(DRIVERS.map((driver) => [driver.name, driver] as const))("%s", (_, driver) => {
  const { has } = driver;

  it("sends the events of a run in order, each with its run, tenant and an ID", async () => {
    const { answer, counts, errors, ofType, sent, types } = await play(driver);
    expect(answer).toBe("answer-mark");
    expect({ counts, errors }).toMatchObject({
      counts: { refused: 0, sinkFailures: 0, faults: 0 },
      errors: [],
    });
    const agent = types().filter((type) => !type.startsWith("step_"));
    expect(agent[0]).toBe("started");
    expect(agent.filter((type) => TERMINAL.has(type))).toEqual(["complete"]);
    expect(agent.at(-1)).toBe("complete");
    expect([...agent].sort()).toEqual(
      [
        ...["started", "tool_start", "tool_complete", "complete"],
        ...(has.models ? ["model_start", "model_complete", "model_start", "model_complete"] : []),
      ].sort(),
    );
    const [started] = ofType("started");
    const ids = sent.map(({ envelope }) => envelope.event_id);
    expect(new Set(ids).size).toBe(sent.length);
    expect(ids).not.toContain(undefined);
    for (const { event, envelope } of sent) {
      expect(event).toMatchObject({ run_id: started?.run_id, tenant_id: "acme" });
      expect(envelope.timestamp).toBeDefined();
      expect(envelope.root_run_id ?? started?.run_id).toBe(started?.run_id);
    }
    const numbers = sent.flatMap(({ envelope }) => envelope.sequence ?? []);
    if (numbers.length > 0) expect(numbers).toEqual(sent.map((_, index) => index));
    const [call] = ofType("tool_start");
    expect(ofType("tool_complete")[0]?.tool_use_id).toBe(call?.tool_use_id);
    if (has.models) expect(call?.tool_use_id).toBe("c1");
  });

  where(has.models)?.("gives the run the use of its calls", async () => {
    const { ofType } = await play(driver);
    const usages = ofType("model_complete").map(({ usage }) => usage);
    const [complete] = ofType("complete");
    expect(complete?.usage).toMatchObject({ requests: 2, tool_calls: 1 });
    if (!has.usage) return;
    expect(usages).toHaveLength(2);
    for (const usage of usages) expect(usage).toMatchObject({ input_tokens: 10, output_tokens: 5 });
    expect(complete?.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
  });

  where(has.tenants)?.("asks for the tenant once", async () => {
    const tenant = vi.fn(() => "beta");
    const { sent } = await play(driver, {}, { tenant });
    expect(tenant).toHaveBeenCalledTimes(1);
    expect(new Set(sent.map(({ event }) => event.tenant_id))).toEqual(new Set(["beta"]));
  });

  where(has.tenants)?.each<[string, () => unknown]>([
    ["throws", fails("no tenant")],
    ["gives no text", () => 7],
    ["gives an empty text", () => ""],
    ["gives a promise", () => Promise.resolve("acme")],
    ["rejects", () => Promise.reject(new Error("no tenant"))],
  ])("sends nothing, and says so, where the function for the tenant %s", async (_, ask) => {
    const tenant = ask as () => never;
    const { answer, counts, errors, sent } = await play(driver, {}, { tenant });
    expect(answer).toBe("answer-mark");
    expect(sent).toEqual([]);
    expect(counts.refused).toBe(1);
    expect(errors).toHaveLength(1);
  });

  it("sends the subject with each event", async () => {
    const context = () => ({ user: "u1", session: "s1", tags: ["beta"] });
    const { sent } = await play(driver, {}, { context });
    for (const { envelope } of sent) {
      expect(envelope).toMatchObject({ session_id: "s1", details: { user_id: "u1" } });
    }
  });

  where(has.tenants)?.each<[string, () => unknown]>([
    ["throws", fails("no user")],
    ["gives a text", () => "u1"],
    ["gives a wrong field", () => ({ user: 7 })],
    ["gives a promise", () => Promise.resolve({ user: "u1" })],
    ["rejects", () => Promise.reject(new Error("no user"))],
  ])("sends no subject, and says so, where its function %s", async (_, ask) => {
    const context = ask as () => never;
    const { answer, counts, errors, ofType, sent } = await play(driver, {}, { context });
    expect(answer).toBe("answer-mark");
    expect(counts.refused).toBe(0);
    expect(errors.length).toBeGreaterThanOrEqual(1);
    expect(ofType("complete")).toHaveLength(1);
    for (const { envelope } of sent) expect(envelope.details?.user_id).toBeUndefined();
  });

  it.each<[string, InnerSink["send"]]>([
    ["throws", fails("sink")],
    ["rejects", () => Promise.reject(new Error("sink"))],
  ])("does not disturb the application where the sink %s", async (_, send) => {
    if (driver.name === "runAgent") return expectRuntimeStops(send);
    const onError = vi.fn(fails("the hook is broken as well"));
    const { answer, counts } = await play(driver, {}, { sink: { send }, onError });
    expect(answer).toBe("answer-mark");
    expect(counts.sinkFailures).toBeGreaterThanOrEqual(has.models ? 8 : 4);
    expect(counts.faults).toBe(0);
    expect(onError).toHaveBeenCalledTimes(counts.sinkFailures);
  });

  where(has.models)?.("waits for a slow sink when it is flushed", async () => {
    const taken: string[] = [];
    const send = async (event: AgentEvent) => {
      for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
      taken.push(event.type);
    };
    await play(driver, {}, { sink: { send } });
    expect(taken).toContain("complete");
  });

  it("sends a result that the application calls a failure as one, and the run goes on", async () => {
    const isFailure = vi.fn(() => true);
    const { answer, ofType } = await play(driver, {}, { isFailure });
    expect(answer).toBe("answer-mark");
    expect(isFailure).toHaveBeenCalledTimes(1);
    expect(ofType("tool_complete")).toEqual([]);
    const [error] = ofType("tool_error");
    expect(error).toMatchObject({
      kind: "internal",
      envelope: { wire_code: "tool_result_error", origin: "tool" },
    });
    expect(error?.error).toBe("the result of add says that it failed");
    expect(ofType("complete")).toHaveLength(1);
  });

  it.each<[string, () => unknown, number]>([
    ["throws", fails("broken"), 1],
    ["gives a promise of true", () => Promise.resolve(true), 1],
    ["rejects", () => Promise.reject(new Error("broken")), 1],
    ["gives a text", () => "secret words", 1],
    ["gives nothing", () => undefined, 0],
  ])("sends a good result as one where `isFailure` %s", async (_, ask, reported) => {
    const isFailure = ask as () => never;
    const { answer, errors, ofType } = await play(driver, {}, { isFailure });
    expect(answer).toBe("answer-mark");
    expect(ofType("tool_complete")).toHaveLength(1);
    expect(ofType("tool_error")).toEqual([]);
    expect(errors).toHaveLength(reported);
  });

  where(has.price)?.("adds the costs of the calls", async () => {
    const price = vi.fn(() => "0.25");
    const { ofType } = await play(driver, {}, { price });
    expect(price).toHaveBeenCalled();
    const calls = has.usage ? 2 : 1;
    expect(price).toHaveBeenCalledTimes(calls);
    expect(ofType("complete")[0]?.usage?.cost_usd).toBe(calls === 2 ? "0.50" : "0.25");
  });

  where(has.usage)?.("has the usage in the row of the run's end, for each end", async () => {
    const modelThrows = Object.assign(new Error("overloaded"), { status: 529, statusCode: 529 });
    const abort = Object.assign(new Error("stop"), { name: "AbortError" });
    const answered = { input_tokens: 20, output_tokens: 10 };
    const asked = { input_tokens: 10, output_tokens: 5 };
    for (const [scene, usage] of [
      [{}, answered],
      [{ modelThrows }, asked],
      [{ modelThrows: abort }, asked],
    ] as const) {
      const { sent } = await play(driver, scene);
      const log = new MemorySessionLog();
      const rows = new AuditSink({ log });
      for (const { envelope, event } of sent) await rows.send(event, envelope);
      const ends = await endsIn(log, sent[0]);
      expect(ends).toHaveLength(1);
      expect(ends[0]).toMatchObject({ usage });
    }
  });

  it("sends a tool that throws as a failed call", async () => {
    const { ofType } = await play(driver, { tool: fails("out of order") });
    expect(ofType("tool_complete")).toEqual([]);
    expect(ofType("tool_error")).toHaveLength(1);
    expect(ofType("tool_error")[0]).toMatchObject({ tool: "add", envelope: { origin: "tool" } });
  });

  where(has.models)?.("ends the run with the failure of its model", async () => {
    const modelThrows = Object.assign(new Error("overloaded"), { status: 529, statusCode: 529 });
    const { answer, ofType, types } = await play(driver, { modelThrows });
    expect(answer).toBeUndefined();
    expect(ofType("model_error")).toHaveLength(1);
    const [asked] = ofType("model_start");
    expect(ofType("model_error")[0]?.provider).toBe(asked?.provider ?? undefined);
    const [failed] = ofType("failed");
    expect(failed?.kind?.type).toBe("model_dispatch");
    expect(failed?.envelope.origin).toBe("model");
    expect(types().filter((type) => TERMINAL.has(type))).toEqual(["failed"]);
  });

  where(has.need)?.each<[ContentNeed, readonly string[]]>([
    ["none", []],
    ["tools", ["471147114711"]],
    ["rows", has.models ? ["question-mark", "471147114711"] : ["471147114711"]],
    ["all", has.models ? MARKS : ["471147114711"]],
  ])("sends the content that a sink of need %s reads", async (need, marks) => {
    const { sent } = await play(driver, {}, {}, need);
    const text = JSON.stringify(sent);
    expect(MARKS.filter((mark) => text.includes(mark))).toEqual(marks);
  });

  it("keeps two runs at once of two tenants apart", async () => {
    const kept = keepingSink("all");
    const both = ["acme", "beta"].map((tenant) => driver.play({ sink: kept.sink, tenant }, {}));
    if (driver.name === "OpenAI Agents") return Promise.all(both).then(() => {});
    await Promise.all(both);
    const runs = new Map(kept.sent.map(({ event }) => [event.run_id, event.tenant_id]));
    expect([...runs.values()].sort()).toEqual(["acme", "beta"]);
    expect(kept.ofType("complete")).toHaveLength(2);
    for (const { event } of kept.sent) expect(event.tenant_id).toBe(runs.get(event.run_id));
  });

  where(has.models && !has.surroundings)?.("is a child of the run around it", async () => {
    const kept = keepingSink("all");
    const outer = {
      ...{ tenantId: "acme", runId: "r1", rootRunId: "r0", threadId: "t1" },
      ...{ subject: { details: { user_id: "u1" } }, toolUseId: "outer-call", sink: kept.sink },
    };
    const tenant = has.tenants ? "other" : "acme";
    await withCurrentRun(outer, () => driver.play({ sink: kept.sink, tenant }, {}));
    expect(kept.ofType("started")[0]).toMatchObject({ parent_run_id: "r1", tenant_id: "acme" });
    for (const { event, envelope } of kept.sent) {
      expect(event.tenant_id).toBe("acme");
      expect(envelope).toMatchObject({ root_run_id: "r0", details: { user_id: "u1" } });
    }
  });
});

async function expectRuntimeStops(send: InnerSink["send"]): Promise<void> {
  // The runtime awaits its sink: without its first event, the run does not begin.
  const { answer, thrown } = await play(runtime, {}, { sink: { send } });
  expect({ answer, thrown }).toMatchObject({ answer: undefined, thrown: new Error("sink") });
}
