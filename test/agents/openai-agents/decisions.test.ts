import { type Agent, RunState, run } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/index.ts";
import { collectSpans, toTrees } from "../../support/spans.ts";
import { agent, pay } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

type Heard = ReturnType<typeof listen>;
type State = RunState<undefined, Agent<unknown, "text">>;

const paysTwice = () =>
  agent("A", [[asks("pay", { n: 1 }, "p1")], [asks("pay", { n: 2 }, "p2")], [says("done")]], {
    tools: [pay],
  });

/** Pauses at the first call, decides about it, and goes on. */
async function decide(decision: (state: State) => void, heard: Heard = listen()): Promise<Heard> {
  const a = paysTwice();
  const { state } = await run(a, "hi");
  decision(state);
  heard.processor.noteResult(await run(a, heard.processor.noteState(state)));
  await heard.events();
  return heard;
}

/** The decisions as they were sent. */
const decisionsOf = (heard: Heard) =>
  heard.told.flatMap(({ event, envelope }) =>
    event.type === "tool_call_approved" || event.type === "tool_call_denied"
      ? [
          {
            id: event.tool_use_id,
            ...(event.type === "tool_call_denied" ? { reason: event.reason } : {}),
            ...envelope.details?.decision,
          },
        ]
      : [],
  );

const first = (state: Pick<State, "getInterruptions">) => {
  const [waiting] = state.getInterruptions();
  if (waiting === undefined) throw new Error("nothing waits");
  return waiting;
};
const byUser = { by: "user", wait_ms: expect.any(Number) };

describe("a decision about a call", () => {
  it("of a person who approves comes before the call, with the wait", async () => {
    const heard = await decide((state) => state.approve(first(state)));
    expect(decisionsOf(heard)).toEqual([{ id: "p1", outcome: "approved", ...byUser }]);
    const paid = heard.spans().find(({ name }) => name === "execute_tool pay");
    expect(paid?.attributes).toMatchObject({
      "entelix.approval.outcome": "approved",
      "entelix.approval.by": "user",
      "entelix.approval.wait_ms": expect.any(Number),
    });
  });

  it("of a person who rejects is a span without a length, with the text that the model is told", async () => {
    const heard = await decide((state) => state.reject(first(state), { message: "too much" }));
    expect(decisionsOf(heard)).toEqual([
      { id: "p1", reason: "too much", outcome: "denied", ...byUser },
    ]);
    const denied = heard.spans().find(({ name }) => name === "execute_tool pay");
    expect(denied?.attributes).toMatchObject({
      "entelix.tool.outcome": "denied",
      "entelix.approval.outcome": "denied",
      "entelix.approval.by": "user",
    });
    expect(denied?.startTime).toEqual(denied?.endTime);
    expect(denied?.status.code).toBe(0);
  });

  it("for all calls of a tool is a rule for those that follow", async () => {
    const approved = await decide((state) => state.approve(first(state), { alwaysApprove: true }));
    expect(decisionsOf(approved)).toEqual([
      { id: "p1", outcome: "approved", ...byUser },
      { id: "p2", outcome: "approved", by: "policy" },
    ]);
    const rejected = await decide((state) =>
      state.reject(first(state), { alwaysReject: true, message: "never" }),
    );
    expect(decisionsOf(rejected)).toEqual([
      { id: "p1", reason: "never", outcome: "denied", ...byUser },
      { id: "p2", reason: "never", outcome: "denied", by: "policy" },
    ]);
  });

  it("names the person that the application knows, and none for a rule", async () => {
    const heard = listen({ decidedBy: ({ outcome, toolUseId }) => `eve ${outcome} ${toolUseId}` });
    await decide((state) => state.approve(first(state), { alwaysApprove: true }), heard);
    expect(decisionsOf(heard)).toMatchObject([{ person: "eve approved p1" }, { by: "policy" }]);
    expect(decisionsOf(heard)[1]).not.toHaveProperty("person");
  });

  it("is known in another process, but for the wait", async () => {
    const a = paysTwice();
    const text = (await run(a, "hi")).state.toString();
    const heard = listen();
    const state = await RunState.fromString(a, text);
    state.approve(first(state));
    await run(a, heard.processor.noteState(state));
    await heard.events();
    expect(decisionsOf(heard)).toEqual([{ id: "p1", outcome: "approved", by: "user" }]);
  });

  it("makes the same spans when its recording is played", async () => {
    const heard = await decide((state) => state.reject(first(state), { alwaysReject: true }));
    const again = collectSpans();
    const replay = new Bridge({ tracerProvider: again.provider, mode: "replay" });
    for (const { event, envelope } of heard.told) await replay.send(event, envelope);
    expect(toTrees(again.spans()).map(({ span_id }) => span_id)).not.toEqual([]);
    const shown = (spans: ReturnType<Heard["spans"]>) =>
      toTrees([...spans]).map((tree) => JSON.stringify(tree));
    expect(shown(again.spans())).toEqual(shown(heard.spans()));
  });
});
