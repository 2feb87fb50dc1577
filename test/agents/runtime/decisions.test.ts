import { describe, expect, it } from "vitest";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import { isInterruption, isToolDenied } from "../../../src/agents/runtime/run-errors.ts";
import type { Approve } from "../../../src/agents/runtime/run-policy.ts";
import { FanOutSink } from "../../../src/entries/sinks.ts";
import { Bridge } from "../../../src/index.ts";
import { collectSpans, toTrees } from "../../support/spans.ts";
import { rejection, Told } from "./said.ts";

const base = { agent: "treasurer", tenant: "acme" };

/** What a run of one call sends of the decision, and what its caller gets. */
async function decide(approve: Approve<{ amount: number }>) {
  const sink = new Told();
  const caller = await runAgent({ sink, ...base }, (run) =>
    run
      .tool("pay", { input: { amount: 900 }, id: "call_1", approve }, ({ input }) => input.amount)
      .catch((error: unknown) => error),
  );
  const at = sink.events.findIndex(({ type }) => type.startsWith("tool_call_"));
  return { caller, event: sink.events[at], decision: sink.items[at]?.envelope?.details?.decision };
}

describe("a decision of an approver", () => {
  it("says by whom, why, and after which wait", async () => {
    const { caller, decision, event } = await decide(({ input }) => ({
      approved: input.amount < 1000,
      by: "eve",
      reason: "known customer",
      waitMs: 86_400_000,
    }));
    expect(caller).toBe(900);
    expect(event?.type).toBe("tool_call_approved");
    expect(decision).toEqual({
      outcome: "approved",
      by: "user",
      person: "eve",
      reason: "known customer",
      wait_ms: 86_400_000,
    });
  });

  it("may change the input: the tool gets that, and the decision says what it was", async () => {
    const { caller, decision, event } = await decide(async () => ({
      approved: true,
      by: "eve",
      input: { amount: 90 },
    }));
    expect(caller).toBe(90);
    expect(event?.type).toBe("tool_call_approved");
    expect(decision).toMatchObject({
      outcome: "edited",
      person: "eve",
      proposed_input: { amount: 900 },
    });
  });

  it("may deny: the caller gets the reason", async () => {
    const { caller, decision, event } = await decide(async () => ({
      approved: false,
      by: "policy",
      reason: "too much",
    }));
    expect(isToolDenied(caller) && caller.reason).toBe("too much");
    expect(event).toMatchObject({ type: "tool_call_denied", reason: "too much" });
    expect(decision).toMatchObject({ outcome: "denied", by: "policy" });
    expect(decision).not.toHaveProperty("person");
  });

  it("may be given as before, and is timed", async () => {
    const approved = await decide(async () => "approved");
    expect(approved.decision).toEqual({ outcome: "approved", wait_ms: expect.any(Number) });
    const denied = await decide(() => ({ denied: "no" }));
    expect(denied.decision).toEqual({ outcome: "denied", wait_ms: expect.any(Number) });
    const { caller } = await decide(() => ({ approved: false }));
    expect(isToolDenied(caller) && caller.reason).toBe("not approved");
  });

  it.each<[string, unknown]>([
    ["approved", { approved: "yes" }],
    ["by", { approved: true, by: 7 }],
    ["reason", { approved: true, reason: {} }],
    ["waitMs", { approved: true, waitMs: -1 }],
  ])("that is none calls no tool: %s", async (_field, answer) => {
    // Programs without types answer anything.
    const { caller, event } = await decide(() => answer as "approved");
    expect(caller).toBeInstanceOf(TypeError);
    expect(event).toBeUndefined();
  });

  it("makes the same spans when its recording is played", async () => {
    const sink = new Told();
    const { spans, provider } = collectSpans();
    const bridge = new Bridge({ tracerProvider: provider, approvalPerson: true, metrics: false });
    const approve: Approve = ({ tool }) => ({ approved: tool === "pay", by: "eve" });
    await runAgent({ sink: new FanOutSink([bridge, sink]), ...base, approve }, async (run) => {
      await run.tool("pay", () => 1);
      await rejection(run.tool("wire", () => 1));
    });
    const again = collectSpans();
    const mode = "replay";
    const replay = new Bridge({ tracerProvider: again.provider, approvalPerson: true, mode });
    for (const { event, envelope } of sink.items) await replay.send(event, envelope);
    expect(toTrees(again.spans())).toEqual(toTrees(spans()));
    const calls = toTrees(spans())[0]?.children.map(({ attributes }) => attributes);
    expect(calls).toMatchObject([
      { "entelix.approval.outcome": "approved", "entelix.approval.person": "eve" },
      { "entelix.approval.outcome": "denied", "entelix.approval.person": "eve" },
    ]);
  });
});

describe("several calls that wait for a decision from outside", () => {
  it("are all named by the payload of the pause", async () => {
    const sink = new Told();
    const slowly: Approve = async ({ tool }) => {
      if (tool === "wire") await Promise.resolve();
      return tool === "look" ? "approved" : "external";
    };
    const error = await rejection(
      runAgent({ sink, ...base, approve: slowly }, (run) =>
        Promise.all(
          ["pay", "wire", "look"].map((tool) =>
            run.tool(tool, { id: `of-${tool}`, input: { tool } }, () => 1),
          ),
        ),
      ),
    );
    const pending = (tool: string) => ({ tool_use_id: `of-${tool}`, tool, input: { tool } });
    const payload = [pending("pay"), pending("wire")];
    expect(sink.only("interrupted")).toMatchObject({
      kind: { type: "approval_pending", tool_use_id: "of-pay" },
      payload,
    });
    expect(isInterruption(error) && error.detail.payload).toMatchObject(payload);
    expect(sink.said().filter((line) => line.startsWith("interrupted"))).toHaveLength(1);
  });
});
