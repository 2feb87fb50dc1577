import { setTimeout } from "node:timers/promises";
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Bridge } from "../../../src/index.ts";
import { collectSpans, toTrees } from "../../support/spans.ts";
import { ASKED, oneNodeGraph, run } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel } from "./scripted-model.ts";

const THREAD = { configurable: { thread_id: "t1" } };

interface Call {
  readonly name: string;
  readonly id: string;
  readonly args: Record<string, unknown>;
}
interface Decision {
  readonly type: string;
  readonly message?: string;
  readonly editedAction?: { readonly name: string; readonly args: Record<string, unknown> };
}

const pay = (id: string, amount: number): Call => ({ name: "pay", id, args: { amount } });
const look = (id: string): Call => ({ name: "look", id, args: {} });
const asks = (calls: readonly Call[]) =>
  new AIMessage({ content: "", tool_calls: calls.map((call) => ({ ...call, type: "tool_call" })) });

/** What `humanInTheLoopMiddleware` of `langchain` 1.5 does with calls of `pay`, in a node of its own. */
function review({ messages }: typeof MessagesAnnotation.State) {
  const answer = messages.at(-1);
  if (!AIMessage.isInstance(answer)) return {};
  const calls = answer.tool_calls ?? [];
  const asked = calls.filter(({ name }) => name === "pay");
  if (asked.length === 0) return {};
  const { decisions } = interrupt<unknown, { decisions: Decision[] }>({
    actionRequests: asked.map(({ name, args }) => ({ name, args, description: "please" })),
    reviewConfigs: asked.map(({ name }) => ({ actionName: name })),
  });
  const rejects = decisions.some(({ type }) => type === "reject");
  const told: ToolMessage[] = [];
  const revised = calls.filter(({ name }) => name !== "pay");
  for (const [at, call] of asked.entries()) {
    const decision = decisions[at];
    const edited = decision?.editedAction;
    const isDenial = decision?.type === "reject" || decision?.type === "respond";
    if (isDenial) {
      const content = decision.message ?? `User rejected the tool call \`${call.name}\``;
      told.push(new ToolMessage({ content, tool_call_id: call.id ?? "", status: "error" }));
    }
    if (!rejects || decision?.type === "reject") {
      revised.push(edited === undefined ? call : { ...call, ...edited });
    }
  }
  // As the middleware does, on the message of the state itself.
  answer.tool_calls = revised;
  return { messages: [answer, ...told] };
}

const tools = ["pay", "look"].map((name) =>
  tool(async ({ amount }) => `${name} ${amount}`, {
    name,
    description: name,
    schema: z.object({ amount: z.number().optional() }),
  }),
);

function agent(calls: readonly Call[], checkpointer = new MemorySaver()) {
  const llm = new ScriptedModel([asks(calls), new AIMessage("done")]);
  const goesOn = ({ messages }: typeof MessagesAnnotation.State) => {
    const last = messages.at(-1);
    if (ToolMessage.isInstance(last)) return "agent";
    return AIMessage.isInstance(last) && last.tool_calls?.length ? "tools" : END;
  };
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", async ({ messages }) => ({ messages: [await llm.invoke(messages)] }))
    .addNode("review", review)
    .addNode("tools", new ToolNode(tools))
    .addEdge(START, "agent")
    .addEdge("agent", "review")
    .addConditionalEdges("review", goesOn, ["agent", "tools", END])
    .addEdge("tools", "agent")
    .compile({ name: "treasurer", checkpointer });
}

type Seen = ReturnType<typeof observe>;

async function decide(
  calls: readonly Call[],
  decisions: readonly Decision[],
  { resumedBy = observe(), metadata = {} }: { resumedBy?: Seen; metadata?: object } = {},
) {
  const graph = agent(calls);
  const asking = resumedBy;
  await run(asking, graph, ASKED, THREAD);
  await run(resumedBy, graph, new Command({ resume: { decisions } }), { ...THREAD, metadata });
  return resumedBy;
}

/** The decisions as they were sent. */
const decisionsOf = (seen: Seen) =>
  seen.told.flatMap(({ event, envelope }) =>
    event.type === "tool_call_approved" || event.type === "tool_call_denied"
      ? [
          {
            id: event.tool_use_id,
            tool: event.tool,
            ...(event.type === "tool_call_denied" ? { reason: event.reason } : {}),
            ...envelope.details?.decision,
          },
        ]
      : [],
  );

const waited = { by: "user", wait_ms: expect.any(Number) };

describe("a person's decision about a call", () => {
  it("that rejects it is a span of its own, and no error", async () => {
    const seen = await decide([pay("p1", 900)], [{ type: "reject", message: "too much" }]);
    expect(decisionsOf(seen)).toEqual([
      { id: "p1", tool: "pay", reason: "too much", outcome: "denied", ...waited },
    ]);
    expect(seen.tree()).toEqual([
      "invoke_agent treasurer interrupted",
      "  chat small-1 complete",
      "invoke_agent treasurer complete",
      "  execute_tool pay denied",
      "  chat small-1 complete",
    ]);
    const [denied] = seen.trees()[1]?.children ?? [];
    expect(denied).toMatchObject({
      status: "unset",
      attributes: { "entelix.approval.outcome": "denied", "entelix.approval.reason": "too much" },
    });
    expect(denied?.start).toBe(denied?.end);
  });

  it("that approves it comes before the call starts", async () => {
    const seen = await decide([pay("p1", 900)], [{ type: "approve" }]);
    expect(decisionsOf(seen)).toEqual([{ id: "p1", tool: "pay", outcome: "approved", ...waited }]);
    expect(seen.lines().slice(4, 8)).toEqual([
      "started treasurer",
      "tool_call_approved",
      "tool_start pay",
      "tool_complete pay",
    ]);
    const [call] = seen.trees()[1]?.children ?? [];
    expect(call?.attributes).toMatchObject({
      "entelix.tool.outcome": "complete",
      "entelix.approval.outcome": "approved",
      "entelix.approval.by": "user",
    });
  });

  it("may edit it, or answer in its place", async () => {
    const edit = { type: "edit", editedAction: { name: "pay", args: { amount: 90 } } };
    const edited = await decide([pay("p1", 900)], [edit]);
    expect(decisionsOf(edited)).toEqual([
      { id: "p1", tool: "pay", outcome: "edited", proposed_input: { amount: 900 }, ...waited },
    ]);
    expect(edited.of("tool_start")[0]?.event.input).toEqual({ amount: 90 });
    const answered = await decide([pay("p1", 900)], [{ type: "respond", message: "paid by hand" }]);
    expect(decisionsOf(answered)).toEqual([
      { id: "p1", tool: "pay", reason: "paid by hand", outcome: "answered", ...waited },
    ]);
  });

  it("that approves a call which the graph then does not make leaves a failed call", async () => {
    const seen = await decide(
      [pay("p1", 900), pay("p2", 3)],
      [
        { type: "edit", editedAction: { name: "pay", args: { amount: "much" } } },
        { type: "edit", editedAction: { name: "refund", args: {} } },
      ],
    );
    expect(decisionsOf(seen).map(({ id, outcome }) => [id, outcome])).toEqual([
      ["p1", "edited"],
      ["p2", "edited"],
    ]);
    const failed = seen
      .of("tool_error")
      .map(({ event }) => [event.tool_use_id, event.tool, event.envelope.wire_code]);
    expect(failed).toEqual([
      ["p1", "pay", "tool_input_invalid"],
      ["p2", "refund", "tool_unknown"],
    ]);
    expect(seen.of("tool_start")[0]?.event.input).toEqual({ amount: "much" });
    expect(seen.trees()[1]?.attributes).toMatchObject({ "entelix.run.tool_calls": 2 });
  });

  it("is one of several, and calls that nobody was asked about have none", async () => {
    const calls = [pay("p1", 1), look("l1"), pay("p2", 2)];
    const seen = await decide(calls, [{ type: "approve" }, { type: "reject" }]);
    expect(seen.of("interrupted")[0]?.event).toMatchObject({
      kind: { type: "approval_pending", tool_use_id: "p1" },
      payload: [
        {
          tool_calls: [
            { tool_use_id: "p1", tool: "pay" },
            { tool_use_id: "p2", tool: "pay" },
          ],
        },
      ],
    });
    const reason = "User rejected the tool call `pay`";
    expect(decisionsOf(seen)).toMatchObject([
      { id: "p1", outcome: "approved" },
      { id: "p2", outcome: "denied", reason },
    ]);
  });

  it.each([
    ["of all calls", [pay("p1", 1), pay("p2", 2)]],
    ["of some calls", [pay("p1", 1), look("l1"), pay("p2", 2)]],
  ])("is known in another process, but for the wait: %s", async (_of, calls) => {
    const saver = new MemorySaver();
    await run(observe(), agent(calls, saver), ASKED, THREAD);
    for (const [first, second] of [
      ["approve", "approve"],
      ["approve", "reject"],
      ["reject", "reject"],
    ] as const) {
      const seen = observe();
      const decisions = [{ type: first }, { type: second }];
      const graph = agent(calls, saver);
      await run(seen, graph, new Command({ resume: { decisions } }), THREAD);
      const outcome = (type: string) => (type === "approve" ? "approved" : "denied");
      expect(decisionsOf(seen)).toMatchObject([
        { id: "p1", outcome: outcome(first) },
        { id: "p2", outcome: outcome(second) },
      ]);
      expect(decisionsOf(seen)[0]).not.toHaveProperty("wait_ms");
      await saver.deleteThread("t1");
      await run(observe(), agent(calls, saver), ASKED, THREAD);
    }
  });

  it("names the person that the application knows", async () => {
    const resumedBy = observe({
      decidedBy: ({ outcome, tool, toolUseId }, metadata) =>
        `${metadata.approver} ${outcome} ${tool} ${toolUseId}`,
    });
    const metadata = { approver: "eve" };
    await decide([pay("p1", 900)], [{ type: "reject" }], { resumedBy, metadata });
    expect(decisionsOf(resumedBy)).toMatchObject([{ person: "eve denied pay p1", by: "user" }]);
  });

  it("has nobody's name where the application's function throws", async () => {
    const resumedBy = observe({
      decidedBy: () => {
        throw new Error("no such person");
      },
    });
    await decide([pay("p1", 900)], [{ type: "approve" }], { resumedBy });
    expect(decisionsOf(resumedBy)[0]).not.toHaveProperty("person");
    expect(resumedBy.errors).toMatchObject([{ message: "no such person" }]);
  });

  it("was made before the node that asked worked on, which is no part of the wait", async () => {
    const seen = observe();
    let workedFrom = 0;
    const graph = oneNodeGraph(
      "treasurer",
      async () => {
        interrupt({ actionRequests: [{ name: "pay", args: { amount: 900 } }] });
        workedFrom = Date.now();
        await setTimeout(20);
        return { messages: [] };
      },
      new MemorySaver(),
    );
    await run(seen, graph, { messages: [asks([pay("p1", 900)])] }, THREAD);
    await run(seen, graph, new Command({ resume: { decisions: [{ type: "approve" }] } }), THREAD);
    expect(decisionsOf(seen)).toEqual([{ id: "p1", tool: "pay", outcome: "approved", ...waited }]);
    const [approved] = seen.of("tool_call_approved");
    const at = Date.parse(String(approved?.envelope.details?.happened_at));
    expect(at).toBeLessThanOrEqual(workedFrom);
  });

  it("makes the same spans when its recording is played", async () => {
    const seen = await decide(
      [pay("p1", 1), pay("p2", 2)],
      [
        { type: "edit", editedAction: { name: "pay", args: { amount: 0 } } },
        { type: "respond", message: "done" },
      ],
    );
    const again = collectSpans();
    const replay = new Bridge({
      tracerProvider: again.provider,
      captureContent: true,
      mode: "replay",
    });
    for (const { event, envelope } of seen.told) await replay.send(event, envelope);
    expect(toTrees(again.spans())).toEqual(seen.trees());
  });
});
