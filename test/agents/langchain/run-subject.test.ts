import { describe, expect, it } from "vitest";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import type { LangChainHandlerOptions } from "../../../src/entries/langchain.ts";
import { ASKED, add, oneNodeGraph, plainTool, reactAgent, run, strictAgent } from "./agents.ts";
import { observe } from "./observed.ts";
import { says } from "./scripted-model.ts";

type Context = NonNullable<LangChainHandlerOptions["context"]>;

const agent = () => reactAgent([says("", ["add", "c1", { a: 1, b: 2 }]), says("3")], [add]);
const OF_ADA = {
  session: "s-4",
  details: { user_id: "u-17", tags: ["beta"], metadata: { plan: "pro" } },
};
const config = { tags: ["beta"], metadata: { user_id: "u-17", plan: "pro", session: "s-4" } };
const context: Context = ({ user_id, plan, session }, tags) => ({
  user: String(user_id),
  session: String(session),
  tags: tags.filter((tag) => tag === "beta"),
  metadata: { plan: String(plan) },
});

function subjects(seen: ReturnType<typeof observe>) {
  return seen.told.map(({ envelope: { details = {}, session_id } }) => {
    const { metadata, tags, user_id } = details;
    return { session: session_id, details: { user_id, tags, metadata } };
  });
}

describe("whose run an invocation is", () => {
  it("is what the mapping says, on every event of the run and those below", async () => {
    let asked = 0;
    const seen = observe({
      context: (metadata, tags) => {
        asked++;
        return context(metadata, tags);
      },
    });
    const outer = oneNodeGraph("outer", async (state, inner) => {
      await agent().invoke(state, inner);
      return {};
    });
    await run(seen, outer, ASKED, config);
    expect(asked).toBe(1);
    expect(seen.of("started")).toHaveLength(2);
    expect(new Set(subjects(seen).map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify(OF_ADA)]),
    );
    for (const span of seen.spans()) {
      const isRun = span.name.startsWith("invoke_agent");
      expect(span.attributes["user.id"]).toBe(isRun ? "u-17" : undefined);
    }
  });

  it("is not sent without a mapping, whatever the invocation says", async () => {
    const seen = observe();
    await run(seen, agent(), ASKED, config);
    expect(seen.told.length).toBeGreaterThan(4);
    const nobody = { session: undefined, details: {} };
    for (const one of subjects(seen)) expect(one).toEqual(nobody);
    expect(JSON.stringify(seen.told.map(({ envelope }) => envelope))).not.toContain("u-17");
  });

  it("is that of the runtime's run around it, field by field", async () => {
    const seen = observe({ context: () => ({ tags: ["inner"] }) });
    const { sink } = seen;
    await runAgent({ sink, agent: "outer", tenant: "acme", user: "u-1", tags: ["outer"] }, () =>
      run(seen, agent()),
    );
    const inner = seen.told.filter(({ event }) => event.run_id !== seen.told[0]?.event.run_id);
    expect(inner.length).toBeGreaterThan(4);
    for (const { envelope } of inner) {
      expect(envelope.details).toMatchObject({ user_id: "u-1", tags: ["inner"] });
    }
  });

  it("is refused unless it is a function", () => {
    const options: object = { context: "user_id" };
    expect(() => observe(options)).toThrow("context: expected a function, got string");
  });
});

describe("the exception of a failed call", () => {
  class DbError extends Error {}

  it("has the class, text and stack of what was thrown", async () => {
    const seen = observe();
    const broken = plainTool("db", () => {
      throw new DbError("no table orders");
    });
    await run(seen, strictAgent([says("", ["db", "c1"])], [broken]));
    for (const type of ["tool_error", "failed"] as const) {
      const [told] = seen.of(type);
      expect(told?.envelope.details?.exception).toEqual({
        type: "DbError",
        message: "no table orders",
        stacktrace: expect.stringContaining("run-subject.test.ts"),
      });
    }
    const failed = seen.spans().filter(({ events }) => events.length > 0);
    expect(failed.map(({ name }) => name).sort()).toContain("execute_tool db");
    for (const { events } of failed) expect(events.map(({ name }) => name)).toEqual(["exception"]);
  });

  it("does not quote what the model answered", async () => {
    const seen = observe();
    const parser = oneNodeGraph("parser", async () => {
      throw Object.assign(new Error('cannot parse "secret answer"'), {
        name: "OutputParserException",
        llmOutput: "secret answer",
      });
    });
    await run(seen, parser);
    const exception = seen.of("failed")[0]?.envelope.details?.exception;
    expect(exception?.message).toBe('cannot parse "[content]"');
    expect(exception?.stacktrace).toMatch(/^OutputParserException: cannot parse "\[content\]"\n/);
    expect(JSON.stringify(seen.told.map(({ envelope }) => envelope))).not.toContain("secret");
  });

  it("is none of a run that was cancelled", async () => {
    const seen = observe();
    const stopped = plainTool("slow", () => {
      throw new DOMException("stop", "AbortError");
    });
    await run(seen, strictAgent([says("", ["slow", "c1"])], [stopped]));
    expect(seen.of("failed").map(({ event }) => event.kind?.type)).toEqual(["cancelled"]);
    expect(seen.of("failed")[0]?.envelope.details?.exception).toBeUndefined();
    expect(seen.of("tool_error")[0]?.envelope.details?.exception).toBeUndefined();
    for (const { events } of seen.spans()) expect(events).toEqual([]);
  });
});
