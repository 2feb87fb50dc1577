import { RunnableLambda } from "@langchain/core/runnables";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { type KnownPause, type PausedRuns, Pauses } from "../../../src/agents/core/door.ts";
import type { RunSubject } from "../../../src/entries/runtime.ts";
import { DroppingSink } from "../../../src/entries/sinks.ts";
import { pausedRunsDatabase } from "../../support/paused-runs-database.ts";
import * as aiSdk from "../ai-sdk/fake-sdk.ts";
import { ASKED, oneNodeGraph, run } from "../langchain/agents.ts";
import { observe } from "../langchain/observed.ts";
import { says } from "../langchain/scripted-model.ts";
import * as mastra from "../mastra/fake-mastra.ts";

const SUBJECT: RunSubject = { user: "u1", session: "s1", tags: ["vip"] };
/** As the events of a run have it. */
const SENT = { session_id: "s1", details: { user_id: "u1", tags: ["vip"] } };

function pauses(store?: PausedRuns, sharesKeys = true) {
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const sink = new DroppingSink();
  return { errors, paused: new Pauses({ sink, framework: "any", store, sharesKeys, onError }) };
}

const known = (tenantId: string, runId = "r1"): KnownPause => ({
  runId,
  tenantId,
  at: 5,
  threadId: "t1",
  subject: { session_id: "s1", details: { user_id: "u1", tags: ["vip"] } },
  details: { part: 2 },
});

describe("paused runs", () => {
  it("are plain JSON in the user's store, with what the resumed run takes over", async () => {
    const { rows, store } = pausedRunsDatabase();
    const { errors, paused } = pauses(store);
    paused.add("k", known("acme"));
    // A lookup waits for the write.
    expect(await paused.find("k", "acme")).toEqual(known("acme"));
    const record = {
      runId: "r1",
      tenantId: "acme",
      at: 5,
      threadId: "t1",
      subject: { user: "u1", session: "s1", tags: ["vip"] },
      details: { part: 2 },
    };
    expect([...rows].map(([key, row]) => [key, JSON.parse(row)])).toEqual([
      ["4:acmek", record],
      ["k", record],
    ]);
    paused.delete("k", known("acme"));
    await paused.settled();
    expect(rows.size).toBe(0);
    expect(errors).toEqual([]);
  });

  it("of a database delay a graph, which is then followed inside a chain, too", async () => {
    const { store } = pausedRunsDatabase();
    const seen = observe({ pausedRuns: store });
    const graph = oneNodeGraph("inner", async () => ({ messages: [says("done")] }));
    const chain = RunnableLambda.from((input: typeof ASKED, config) => graph.invoke(input, config));
    await run(seen, chain.withConfig({ runName: "outer" }), ASKED, {
      configurable: { thread_id: "t1" },
    });
    expect(seen.tree()).toEqual(["invoke_agent outer complete", "  invoke_agent inner complete"]);
    expect(seen.errors).toEqual([]);
  });

  it("of two tenants with one ID wait for the database, and then nothing is sent", async () => {
    const { store } = pausedRunsDatabase();
    const seen = observe({ pausedRuns: store });
    const graph = oneNodeGraph("graph", async () => ({ messages: [says("secret")] }));
    await Promise.all(
      ["acme", "globex"].map((tenant_id) =>
        graph.invoke(ASKED, {
          callbacks: [seen.handler],
          runId: "019e23ab-0000-7000-8000-00000000b001",
          metadata: { tenant_id },
          configurable: { thread_id: "t1" },
        }),
      ),
    );
    expect(seen.lines()).toEqual([]);
    expect(seen.handler.counts).toMatchObject({ refused: 1, faults: 0 });
  });

  it.each([
    ["memory", undefined],
    ["a map", new Map()],
    ["a database", pausedRunsDatabase().store],
  ])("of tenants with one key stay apart in %s", async (_, store) => {
    const { errors, paused } = pauses(store);
    const tenants = Array.from({ length: 100 }, (_, index) => `tenant-${index}`);
    paused.add("k", known("tenant-0"));
    expect((await paused.find("k", undefined))?.tenantId).toBe("tenant-0");
    expect(await paused.hasOther("k", "tenant-0")).toBe(false);
    for (const tenant of tenants) paused.add("k", known(tenant, `run of ${tenant}`));
    for (const tenant of tenants) {
      expect((await paused.find("k", tenant))?.runId).toBe(`run of ${tenant}`);
    }
    expect(await paused.find("k", "another")).toBeUndefined();
    // Nothing says which of them is meant.
    expect(await paused.find("k", undefined)).toBeUndefined();
    expect(await paused.hasOther("k", "tenant-0")).toBe(true);
    expect(errors).toEqual([]);
  });

  const record = { runId: "r1", tenantId: "acme", at: 5 };
  it.each<[string, unknown]>([
    ["of another tenant", { ...record, tenantId: "globex" }],
    ["a text", "r1"],
    ["a list", [record]],
    ["without a run", { ...record, runId: undefined }],
    ["without a time", { ...record, at: "yesterday" }],
    ["with another form of subject", { ...record, subject: { user: 7 } }],
  ])("%s count as nothing, and are reported", async (_, answer) => {
    const get = () => JSON.parse(JSON.stringify(answer));
    const stores = [get, async () => get()].map((read) => ({ get: read, set: () => {} }));
    for (const store of stores) {
      const { errors, paused } = pauses(store);
      expect(await paused.find("k", "acme")).toBeUndefined();
      expect(errors).toEqual([expect.any(TypeError)]);
    }
  });

  it("of a store that fails are reported, and nothing is thrown", async () => {
    const down = new Error("down");
    const thrown = () => {
      throw down;
    };
    for (const fails of [thrown, () => Promise.reject(down)]) {
      const { errors, paused } = pauses({ get: fails, set: fails, delete: fails }, false);
      paused.add("k", known("acme"));
      await paused.settled();
      expect(await paused.find("k", "acme")).toBeUndefined();
      paused.delete("k", known("acme"));
      await paused.settled();
      expect(errors).toEqual([down, down, down]);
    }
  });
});

/** Pauses a run with tenant acme, thread t1 and subject, and resumes it in another process that only has the store. */
const scenes = {
  async "AI SDK"(store: PausedRuns, hooks: Hooks) {
    const pay = aiSdk.asks("pay", "c1", { sum: 17 });
    const before = aiSdk.listen({
      pausedRuns: store,
      thread: () => "t1",
      context: () => SUBJECT,
    });
    const first = new aiSdk.FakeCall(before.telemetry);
    await first.start();
    await first.finish([pay, aiSdk.wantsApproval("a1", pay)]);
    await before.telemetry.flush();
    const after = aiSdk.listen({ pausedRuns: store, ...hooks });
    const next = new aiSdk.FakeCall(after.telemetry);
    const asked = { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" };
    const answer = { type: "tool-approval-response", approvalId: "a1", approved: true };
    await next.start({
      messages: [
        { role: "assistant", content: [pay, asked] },
        { role: "tool", content: [answer] },
      ],
    });
    await next.finish([aiSdk.text("done")]);
    await after.telemetry.flush();
    return { before, after, errors: after.errors, refused: after.telemetry.counts.refused };
  },

  async Mastra(store: PausedRuns, hooks: Hooks) {
    const before = mastra.listen({
      pausedRuns: store,
      thread: () => "t1",
      context: () => SUBJECT,
    });
    const first = mastra.agentRun(before.telemetry, { traceId: "c".repeat(32) });
    const call = { toolName: "pay", toolCallId: "c1" };
    first.end({ output: { status: "suspended", reason: "tool-call-approval", ...call } });
    await before.telemetry.flush();
    const after = mastra.listen({ pausedRuns: store, ...hooks });
    const next = mastra.agentRun(after.telemetry, {
      traceId: first.traceId,
      input: { approved: true, ...call },
      metadata: { runId: "mastra-1", resumed: true },
    });
    // Its code waits for the store as well.
    const { step } = mastra.asked(next);
    const tool = mastra.tool(step, "pay", "c1");
    await tool.inside(async () => "paid");
    tool.end({ output: "paid", attributes: { success: true } });
    next.end({ output: { text: "done" } });
    await after.telemetry.flush();
    return { before, after, errors: after.errors, refused: after.telemetry.counts.refused };
  },

  async LangGraph(store: PausedRuns, hooks: Hooks) {
    const node = async () => ({ messages: [says(String(interrupt("ok?")))] });
    const graph = oneNodeGraph("asker", node, new MemorySaver());
    const seen = (more: object) => {
      const { handler, errors, of } = observe({ pausedRuns: store, ...more });
      const ofType = (type: "started" | "interrupted") =>
        of(type).map(({ envelope, event }) => ({ ...event, sentIn: envelope }));
      return { handler, errors, ofType };
    };
    const thread = { configurable: { thread_id: "t1" } };
    const before = seen({ context: () => SUBJECT });
    await run(before, graph, ASKED, thread);
    await before.handler.flush();
    const after = seen(hooks);
    await run(after, graph, new Command({ resume: "yes" }), thread);
    await after.handler.flush();
    return { before, after, errors: after.errors, refused: after.handler.counts.refused };
  },
};

interface Hooks {
  readonly tenant?: () => string;
  readonly context?: () => RunSubject;
}

const unknown = () => {
  throw new Error("no tenant");
};

describe.each(Object.entries(scenes))("a run of %s that another process resumes", (_, scene) => {
  it("has tenant, thread and subject of the paused one, which the hooks do not give", async () => {
    const { rows, store } = pausedRunsDatabase();
    const { after, before, errors, refused } = await scene(store, {
      tenant: unknown,
      context: () => ({ tags: [] }),
    });
    expect(after.ofType("started")).toMatchObject([
      {
        tenant_id: "acme",
        sentIn: {
          ...SENT,
          thread_id: "t1",
          resumed_from_run_id: before.ofType("started")[0]?.run_id,
        },
      },
    ]);
    expect(refused).toBe(0);
    expect(errors).toEqual([]);
    for (const row of rows.values()) expect(JSON.parse(row)).toMatchObject({ subject: SUBJECT });
  });

  it("has what the hooks give, where they give it", async () => {
    const { store } = pausedRunsDatabase();
    const { after } = await scene(store, { context: () => ({ user: "u2" }) });
    expect(after.ofType("started")).toMatchObject([
      {
        tenant_id: "acme",
        sentIn: { session_id: "s1", details: { user_id: "u2", tags: ["vip"] } },
      },
    ]);
  });

  it("is not linked if a hook gives another tenant", async () => {
    const { store } = pausedRunsDatabase();
    const { after } = await scene(store, { tenant: () => "globex" });
    const [started, ...others] = after.ofType("started");
    expect(others).toEqual([]);
    expect(started?.tenant_id).toBe("globex");
    expect(started?.sentIn.resumed_from_run_id).toBeUndefined();
    expect(started?.sentIn.session_id).toBeUndefined();
    expect(started?.sentIn.details?.user_id).toBeUndefined();
  });

  it("is not linked if the store answers with a run of another tenant, or fails", async () => {
    const foreign = { runId: "r9", tenantId: "globex", at: 5, subject: { user: "u9" } };
    const down = new Error("down");
    for (const get of [async () => foreign, () => Promise.reject(down)]) {
      const { after, errors } = await scene({ get, set: () => {} }, {});
      const [started] = after.ofType("started");
      expect(started?.tenant_id).toBe("acme");
      expect(started?.sentIn.resumed_from_run_id).toBeUndefined();
      expect(started?.sentIn.details?.user_id).toBeUndefined();
      expect(errors.length).toBeGreaterThan(0);
    }
  });
});
