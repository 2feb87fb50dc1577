import { Agent, Runner, RunState, run, tool, withTrace } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { add, agent, pay, rejected, streamed } from "./scenes.ts";
import { asks, ScriptedModel, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

const payer = () =>
  agent("A", [[asks("pay", { n: 1 }, "p1"), asks("add", { a: 1 })], [says("done")]], {
    tools: [pay, add],
  });

const PAUSED = [
  "A started",
  "A model_start",
  "A model_complete",
  "A tool_start add call_add",
  "A tool_complete add call_add",
  "A interrupted approval_pending p1",
];
const APPROVED = [
  "A started",
  "A tool_call_approved pay p1",
  "A tool_start pay p1",
  "A tool_complete pay p1",
  "A model_start",
  "A model_complete",
  "A complete",
];

interface Paused<S, I> {
  readonly interruptions: readonly I[];
  readonly state: S;
}

function approveAll<S extends { approve(item: I): void }, I>(result: Paused<S, I>): S {
  for (const waiting of result.interruptions) result.state.approve(waiting);
  return result.state;
}

/** The usage of each end of a run. */
function usages({ told }: ReturnType<typeof listen>) {
  return told.flatMap(({ envelope, event }) => {
    if (event.type === "complete") return [event.usage];
    return event.type === "interrupted" ? [envelope.details?.usage] : [];
  });
}

describe("a pause", () => {
  it("is no error, and its run goes on in its next segment", async () => {
    const heard = listen();
    const a = payer();
    const first = await run(a, "hi");
    expect(await heard.events()).toEqual(PAUSED);
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
    await run(a, approveAll(first));
    expect(await heard.events()).toEqual([...PAUSED, ...APPROVED]);
    expect(await heard.tree()).toBe(`invoke_agent A interrupted
  chat complete
  execute_tool add complete
invoke_agent A complete
  execute_tool pay complete
  chat complete
`);
    const spans = heard.spans();
    expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
    expect(spans.filter(({ status }) => status.message !== undefined)).toEqual([]);
    const [, second] = spans.filter(({ name }) => name === "invoke_agent A");
    expect(second?.attributes["entelix.run.segment"]).toBe(2);
    const paid = spans.find(({ name }) => name === "execute_tool pay");
    expect(paid?.attributes["entelix.approval.outcome"]).toBe("approved");
  });

  it("is known of models of the extensions package too, whose items are the SDK's protocol", async () => {
    const heard = listen();
    const steps = [[asks("pay", { n: 1 }, "p1"), asks("add", { a: 1 })], [says("done")]];
    const model = new ScriptedModel(steps, "aisdk");
    const a = new Agent({ name: "A", model, tools: [pay, add] });
    const first = await run(a, "hi");
    expect(await heard.events()).toEqual(PAUSED);
    await run(a, approveAll(first));
    expect(await heard.events()).toEqual([...PAUSED, ...APPROVED]);
    const ids = heard.told.flatMap(({ event }) => (event.type === "started" ? [event.run_id] : []));
    expect(new Set(ids).size).toBe(1);
    const part = { requests: 1, input_tokens: 10, output_tokens: 5, tool_calls: 1 };
    expect(usages(heard)).toMatchObject([part, part]);
  });

  it("ends with the approved tool that ends the run, though the SDK ends no span", async () => {
    const heard = listen();
    const broke = tool({
      name: "pay",
      description: "has no money",
      parameters: z.object({ n: z.number() }),
      needsApproval: true,
      errorFunction: null,
      execute: async () => {
        throw new RangeError("no money");
      },
    });
    const a = agent("A", [[asks("pay", { n: 1 }, "p1")]], { tools: [broke] });
    await rejected(run(a, approveAll(await run(a, "hi"))));
    const [, , , paused, ...after] = await heard.events();
    expect([paused, ...after]).toEqual([
      "A interrupted approval_pending p1",
      "A started",
      "A tool_call_approved pay p1",
      "A tool_start pay p1",
      "A tool_error pay internal: no money",
      "A failed tool_error_terminal: Failed to run function tools: RangeError: no money",
    ]);
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
    expect(heard.processor.counts.strayEnds).toBe(0);
  });

  it("goes on no later than the first thing in it", async () => {
    const heard = listen();
    const a = payer();
    await run(a, approveAll(await run(a, "hi")));
    await heard.processor.forceFlush();
    const [, again] = heard.spans().filter(({ name }) => name === "invoke_agent A");
    const paid = heard.spans().find(({ name }) => name === "execute_tool pay");
    expect(again?.startTime).toEqual(paid?.startTime);
  });

  it("says which calls wait", async () => {
    const heard = listen();
    await run(payer(), "hi");
    const [waits] = heard.told.filter(({ event }) => event.type === "interrupted");
    expect(waits?.event).toMatchObject({ payload: [{ tool_use_id: "p1", tool: "pay" }] });
  });

  it("does not wait for the handoff that brought it about", async () => {
    const heard = listen();
    const billing = agent("Billing", [[asks("pay", { n: 1 }, "p1")]], { tools: [pay] });
    const steps = [[asks("transfer_to_Billing", {}, "h1")]];
    await run(agent("Triage", steps, { tools: [add], handoffs: [billing] }), "hi");
    const waits = (await heard.events()).filter((line) => line.includes("interrupted"));
    expect(waits).toEqual([
      "Billing interrupted approval_pending p1",
      "Triage interrupted approval_pending p1",
    ]);
    for (const { event } of heard.told) {
      if (event.type !== "interrupted") continue;
      expect(event.payload).toEqual([{ tool_use_id: "p1", tool: "pay" }]);
    }
  });

  it("ends with a denial: a denied call has no start", async () => {
    const heard = listen();
    const a = payer();
    const first = await run(a, "hi");
    for (const waiting of first.interruptions) first.state.reject(waiting);
    await run(a, first.state);
    expect(await heard.events()).toEqual([
      ...PAUSED,
      "A started",
      "A tool_call_denied pay p1",
      "A model_start",
      "A model_complete",
      "A complete",
    ]);
  });

  it("ends in another process, where the run is known by its state alone", async () => {
    const first = listen();
    const a = payer();
    const paused = await run(a, "hi");
    const text = paused.state.toString();
    const second = listen();
    const state = await RunState.fromString(a, text);
    for (const waiting of state.getInterruptions()) state.approve(waiting);
    await run(a, state);
    expect(await second.events()).toEqual([
      "A started",
      expect.stringMatching(/^A tool_start pay span_/),
      expect.stringMatching(/^A tool_complete pay span_/),
      "A model_start",
      "A model_complete",
      "A complete",
    ]);
    const id = first.told[0]?.event.run_id;
    const [again] = second.told;
    expect(again?.event.run_id).toMatch(new RegExp(`^${id}\\.span_`));
    expect(again?.event).toMatchObject({ type: "started", parent_run_id: null });
    expect(again?.envelope).toMatchObject({ root_run_id: id, resumed_from_run_id: id });
    const ids = [first, second].flatMap(({ told }) =>
      told.map(({ envelope }) => envelope.event_id),
    );
    expect(new Set(ids).size).toBe(ids.length);
    const traceOf = ({ spans }: typeof first) => spans()[0]?.spanContext().traceId;
    expect(traceOf(second)).toBe(traceOf(first));
    const known = new Set(first.spans().map((span) => span.spanContext().spanId));
    expect(second.spans().filter((span) => known.has(span.spanContext().spanId))).toEqual([]);
    const [before] = first.spans().filter(({ name }) => name === "invoke_agent A");
    const [after] = second.spans().filter(({ name }) => name === "invoke_agent A");
    expect(after?.parentSpanContext?.spanId).toBe(before?.spanContext().spanId);
    expect(after?.links[0]?.context.spanId).toBe(before?.spanContext().spanId);
    expect(after?.attributes["entelix.run.resumed_from"]).toBe(id);
    // What became of the root is a root: it has the usage, and its failure would be counted.
    expect(after?.attributes["entelix.usage.cumulative"]).toBeUndefined();
    expect(after?.attributes["gen_ai.usage.input_tokens"]).toBeGreaterThan(0);
  });

  it("has ids of its own in each process, and the same whoever tells of it again", async () => {
    const a = agent(
      "A",
      [[asks("pay", { n: 1 }, "p1")], [asks("pay", { n: 2 }, "p2")], [says("done")]],
      { tools: [pay] },
    );
    let text = (await run(a, "hi")).state.toString();
    const roots: (string | undefined)[] = [];
    const spans: string[] = [];
    for (let process = 0; process < 2; process++) {
      const heard = listen();
      const state = heard.processor.noteState(await RunState.fromString(a, text));
      text = (
        await run(a, approveAll({ interruptions: state.getInterruptions(), state }))
      ).state.toString();
      await heard.events();
      roots.push(heard.told[0]?.event.run_id);
      spans.push(...heard.spans().map((span) => span.spanContext().spanId));
      const told = listen();
      for (const { event, envelope } of heard.told) await told.bridge.send(event, envelope);
      const ids = (of: typeof heard) =>
        of
          .spans()
          .map((span) => span.spanContext().spanId)
          .sort();
      expect(ids(told)).toEqual(ids(heard));
    }
    expect(new Set(roots).size).toBe(2);
    expect(new Set(spans).size).toBe(spans.length);
  });

  it("goes on being a pause while nobody decides", async () => {
    const heard = listen();
    const a = payer();
    const text = (await run(a, "hi")).state.toString();
    await run(a, await RunState.fromString(a, text));
    expect(await heard.events()).toEqual(PAUSED);
  });

  it("rises through an agent used as a tool", async () => {
    const heard = listen();
    const inner = agent("Inner", [[asks("pay", { n: 1 }, "p1")], [says("paid")]], { tools: [pay] });
    const tools = [inner.asTool({ toolName: "inner", toolDescription: "pays" })];
    const outer = agent("Outer", [[asks("inner", { input: "1" }, "i1")], [says("done")]], {
      tools,
    });
    await run(outer, approveAll(await run(outer, "hi")));
    expect(await heard.events()).toEqual([
      "Outer started",
      "Outer model_start",
      "Outer model_complete",
      "Outer tool_start inner i1",
      "Inner started below Outer",
      "Inner model_start",
      "Inner model_complete",
      "Outer tool_error inner internal: dispatch interrupted for human review",
      "Inner interrupted approval_pending p1",
      "Outer interrupted approval_pending p1",
      "Outer started",
      "Outer tool_start inner i1",
      "Inner started below Outer",
      "Inner tool_call_approved pay p1",
      "Inner tool_start pay p1",
      "Inner tool_complete pay p1",
      "Inner model_start",
      "Inner model_complete",
      "Inner complete",
      "Outer tool_complete inner i1",
      "Outer model_start",
      "Outer model_complete",
      "Outer complete",
    ]);
    expect(await heard.tree()).toBe(`invoke_agent Outer interrupted
  chat complete
  execute_tool inner interrupted
    invoke_agent Inner interrupted
      chat complete
invoke_agent Outer complete
  execute_tool inner complete
    invoke_agent Inner complete
      execute_tool pay complete
      chat complete
  chat complete
`);
  });

  it("rises through a named workflow, and an agent that was handed to goes on below it", async () => {
    const heard = listen();
    const runner = new Runner({ workflowName: "Support" });
    const steps = [[asks("pay", { n: 1 }, "p1")], [says("done")]];
    const billing = agent("Billing", steps, { tools: [pay] });
    const triage = agent("Triage", [[asks("transfer_to_Billing")]], { handoffs: [billing] });
    await runner.run(triage, approveAll(await runner.run(triage, "hi")));
    expect(await heard.tree()).toBe(`invoke_workflow Support interrupted
  invoke_agent Triage complete
    chat complete
  invoke_agent Billing interrupted
    chat complete
invoke_workflow Support complete
  invoke_agent Billing complete
    execute_tool pay complete
    chat complete
`);
    const resumed = heard.told.filter(({ envelope }) => envelope.resumed_from_run_id !== undefined);
    const [before] = heard.told.filter(
      ({ event }) => event.type === "started" && event.agent === "Billing",
    );
    expect(resumed.map(({ envelope }) => envelope.resumed_from_run_id)).toEqual([
      before?.event.run_id,
    ]);
  });

  it("is seen while streaming", async () => {
    const heard = listen();
    const a = payer();
    const first = await run(a, "hi", { stream: true });
    for await (const event of first) void event;
    await first.completed;
    await streamed(a, approveAll(first));
    expect(await heard.events()).toEqual([...PAUSED, ...APPROVED]);
  });

  it("within a longer trace is no pause until the trace ends", async () => {
    const heard = listen();
    const a = payer();
    await withTrace("Shop", async () => {
      await run(a, approveAll(await run(a, "hi")));
      await run(agent("After", [[says("bye")]]), "hi");
    });
    expect(await heard.tree()).toBe(`invoke_workflow Shop complete
  invoke_agent A complete
    chat complete
    execute_tool add complete
    execute_tool pay complete
    chat complete
  invoke_agent After complete
    chat complete
`);
  });

  it("that the SDK tells nobody of is told by noteResult", async () => {
    const heard = listen();
    const steps = [[asks("pay", { n: 1 }, "p1")], [asks("pay", { n: 2 }, "p2")], [says("done")]];
    const a = agent("A", steps, { tools: [pay] });
    const first = heard.processor.noteResult(await run(a, "hi"));
    const second = heard.processor.noteResult(await run(a, approveAll(first)));
    expect(heard.bridge.diagnostics().openRuns).toBe(0);
    await run(a, approveAll(second));
    const pauses = (await heard.events()).filter((line) => line.includes("interrupted"));
    expect(pauses).toEqual([
      "A interrupted approval_pending p1",
      "A interrupted approval_pending p2",
    ]);
    expect(await heard.tree()).toBe(`invoke_agent A interrupted
  chat complete
invoke_agent A interrupted
  execute_tool pay complete
  chat complete
invoke_agent A complete
  execute_tool pay complete
  chat complete
`);
    expect(heard.processor.noteResult({ state: undefined })).toEqual({ state: undefined });
  });

  it("counts the usage of all its segments once", async () => {
    const heard = listen();
    const a = payer();
    await run(a, approveAll(await run(a, "hi")));
    await heard.processor.forceFlush();
    const chats = heard.spans().filter(({ name }) => name.startsWith("chat"));
    const sum = chats.reduce((n, s) => n + Number(s.attributes["gen_ai.usage.input_tokens"]), 0);
    const ofSegments = usages(heard);
    expect(ofSegments).toMatchObject([
      { requests: 1, tool_calls: 1 },
      { requests: 1, tool_calls: 1 },
    ]);
    expect(ofSegments.reduce((n, usage) => n + Number(usage?.input_tokens), 0)).toBe(sum);
  });

  it("is one for each of two tenants at once", async () => {
    const heard = listen();
    const of = async (tenant_id: string) => {
      const a = new Agent({
        name: tenant_id,
        tools: [pay],
        model: new ScriptedModel([[asks("pay", { n: 1 }, "p1")], [says("done")]]),
      });
      const runner = new Runner({ traceMetadata: { tenant_id } });
      await runner.run(a, approveAll(await runner.run(a, "hi")));
    };
    await Promise.all([of("acme"), of("globex")]);
    await heard.processor.forceFlush();
    for (const tenant of ["acme", "globex"]) {
      const own = heard.told.filter(({ event }) => event.tenant_id === tenant);
      expect(own.map(({ event }) => event.type)).toEqual([
        "started",
        "model_start",
        "model_complete",
        "interrupted",
        "started",
        "tool_call_approved",
        "tool_start",
        "tool_complete",
        "model_start",
        "model_complete",
        "complete",
      ]);
      expect(own.flatMap(({ event }) => (event.type === "started" ? [event.agent] : []))).toEqual([
        tenant,
        tenant,
      ]);
      expect(new Set(own.map(({ event }) => event.run_id)).size).toBe(1);
    }
  });
});
