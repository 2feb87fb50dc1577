import { getCurrentSpan, run, tool, withTrace } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import type { OpenAIAgentsProcessorOptions } from "../../../src/entries/openai-agents.ts";
import { add, agent, boom, guardrail, rejected } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

type Context = NonNullable<OpenAIAgentsProcessorOptions["context"]>;

const adds = () => agent("A", [[asks("add", { a: 1, b: 2 })], [says("3")]], { tools: [add] });
const metadata = { user_id: "u-17", plan: "pro" };
const context: Context = (trace) => ({
  user: String(trace.metadata?.user_id),
  session: trace.groupId ?? "none",
  tags: [trace.name],
  metadata: { plan: String(trace.metadata?.plan) },
});

describe("whose runs a trace's are", () => {
  it("is what the mapping says, on every event", async () => {
    let asked = 0;
    const heard = listen({
      context: (trace) => {
        asked++;
        return context(trace);
      },
    });
    await withTrace("flow", () => run(adds(), "hi"), { groupId: "g-1", metadata });
    await heard.processor.forceFlush();
    expect(asked).toBe(1);
    expect(heard.told.length).toBeGreaterThan(6);
    for (const { envelope } of heard.told) {
      expect(envelope.session_id).toBe("g-1");
      expect(envelope.details).toMatchObject({
        user_id: "u-17",
        tags: ["flow"],
        metadata: { plan: "pro" },
      });
    }
    const users = heard.spans().map(({ attributes }) => attributes["user.id"]);
    expect(users.filter((user) => user === "u-17")).toHaveLength(2);
  });

  it("is not sent without a mapping", async () => {
    const heard = listen();
    await withTrace("flow", () => run(adds(), "hi"), { groupId: "g-1", metadata });
    await heard.processor.forceFlush();
    const envelopes = JSON.stringify(heard.told.map(({ envelope }) => envelope));
    expect(envelopes).not.toMatch(/u-17|session_id|user_id|metadata/);
  });

  it("is that of the runtime's run around it", async () => {
    const heard = listen();
    const { sink } = heard;
    await runAgent({ sink, agent: "outer", tenant: "acme", user: "u-1" }, async () => {
      await run(adds(), "hi");
    });
    await heard.processor.forceFlush();
    const started = heard.told.filter(({ event }) => event.type === "started");
    expect(started).toHaveLength(2);
    for (const { envelope } of started) expect(envelope.details?.user_id).toBe("u-1");
  });
});

describe("the exception of a failed call", () => {
  it("has class and text, as far as the SDK keeps them", async () => {
    const heard = listen();
    await rejected(run(agent("A", [[asks("boom")]], { tools: [boom(false)] }), "hi"));
    await heard.processor.forceFlush();
    const of = (type: string) =>
      heard.told.find(({ event }) => event.type === type)?.envelope.details?.exception;
    // On a tool's span the SDK keeps the message alone.
    expect(of("tool_error")).toEqual({ type: "Error", message: "out of order" });
    expect(of("failed")?.message).toBe("Failed to run function tools: RangeError: out of order");
    const events = heard.spans().flatMap((span) => span.events.map((event) => event.name));
    expect(events).toEqual(["exception", "exception"]);
  });

  it("does not name the guardrail that tripped, as the run's error does", async () => {
    const heard = listen();
    const inputGuardrails = [guardrail("polite", true)];
    await rejected(run(agent("A", [[says("done")]], { inputGuardrails }), "hi"));
    await heard.processor.forceFlush();
    const failed = heard.told.find(({ event }) => event.type === "failed");
    expect(failed?.event).toMatchObject({ error: "an input guardrail tripped: polite" });
    expect(failed?.envelope.details?.exception).toEqual({
      type: "InputGuardrailTripwireTriggered",
      message: "an input guardrail tripped",
    });
  });

  it("has the stack where `withSpan` saw the error", async () => {
    class DbError extends Error {}
    const heard = listen();
    const db = tool({
      name: "db",
      description: "asks",
      parameters: z.object({}),
      errorFunction: null,
      execute: () =>
        heard.processor.withSpan(getCurrentSpan(), () => {
          throw new DbError("no table orders");
        }),
    });
    await rejected(run(agent("A", [[asks("db")]], { tools: [db] }), "hi"));
    await heard.processor.forceFlush();
    const told = heard.told.find(({ event }) => event.type === "tool_error");
    expect(told?.envelope.details?.exception).toEqual({
      type: "DbError",
      message: "no table orders",
      stacktrace: expect.stringContaining("run-subject.test.ts"),
    });
  });
});
