import { OutputParserException } from "@langchain/core/output_parsers";
import { RunnableLambda } from "@langchain/core/runnables";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { ASKED, plainTool, run, strictAgent } from "./agents.ts";
import { observe } from "./observed.ts";
import { says } from "./scripted-model.ts";

describe("errors of LangChain's own", () => {
  const named = (name: string) => Object.assign(new Error("text"), { name });
  const coded = (lc_error_code: string) => Object.assign(new Error("text"), { lc_error_code });
  const inMiddleware = (cause: Error) =>
    Object.assign(new Error(cause.message, { cause }), { "~brand": "MiddlewareError" });

  it.each([
    [named("ModelAbortError"), "cancelled", "cancelled"],
    [new Error("Aborted"), "cancelled", "cancelled"],
    [named("NodeTimeoutError"), "deadline_exceeded", "deadline_exceeded"],
    [named("OutputParserException"), "internal", "serde"],
    [named("ToolInputParsingException"), "internal", "invalid_request"],
    [named("InvalidUpdateError"), "internal", "config_error"],
    [named("GraphRecursionError"), "usage_limit_exceeded", "quota_exceeded"],
    [named("ModelCallLimitMiddlewareError"), "usage_limit_exceeded", "quota_exceeded"],
    [named("ToolCallLimitExceededError"), "usage_limit_exceeded", "quota_exceeded"],
    [named("PIIDetectionError"), "internal", "invalid_request"],
    [named("StructuredOutputParsingError"), "internal", "serde"],
    [named("ModelRefusalError"), "model_dispatch", "model_retry_exhausted"],
    [coded("MODEL_RATE_LIMIT"), "model_dispatch", "rate_limited"],
    // As `createAgent` wraps it: the name stays, the code does not.
    [inMiddleware(coded("MODEL_RATE_LIMIT")), "model_dispatch", "rate_limited"],
    [new Error("gave up", { cause: named("InvalidUpdateError") }), "internal", "config_error"],
    [coded("MODEL_AUTHENTICATION"), "model_dispatch", "upstream_unauthorized"],
    [named("ContextOverflowError"), "model_dispatch", "upstream_invalid"],
    // What the error itself says goes first.
    [
      Object.assign(coded("MODEL_NOT_FOUND"), { status: 503 }),
      "model_dispatch",
      "upstream_unavailable",
    ],
  ])("%s is %s", async (thrown, kind, code) => {
    const seen = observe();
    const chain = RunnableLambda.from(() => {
      throw thrown;
    });
    await run(seen, chain, ASKED);
    const [failed] = seen.of("failed");
    expect([failed?.event.kind?.type, failed?.event.envelope.wire_code]).toEqual([kind, code]);
  });

  it.each([
    [
      new OutputParserException('Failed to parse. Text: "pin 4711". Error: no number', "pin 4711"),
      'Failed to parse. Text: "[content]". Error: no number',
    ],
    // What is short is cut where it is quoted, not out of other words.
    [
      new OutputParserException("Could not parse output: o", "o"),
      "Could not parse output: [content]",
    ],
    [
      Object.assign(new Error("Model refused to produce the requested output: pin 4711"), {
        name: "ModelRefusalError",
      }),
      "the model refused to answer",
    ],
    [
      Object.assign(new Error(`Error invoking tool 'pay' with kwargs {"pin":4711}`), {
        "~brand": "ToolInvocationError",
        toolError: new Error("expected text"),
      }),
      "expected text",
    ],
  ])("%s has no content in its text", async (thrown, text) => {
    const seen = observe();
    const chain = RunnableLambda.from(() => {
      throw inMiddleware(thrown);
    });
    await run(seen, chain, ASKED);
    expect(seen.of("failed")[0]?.event.error.split("\n")[0]).toBe(text);
    expect(JSON.stringify(seen.spans().map(({ status }) => status))).not.toContain("4711");
  });

  it("a graph in a tool that is out of steps has used up its budget", async () => {
    const seen = observe();
    const loop = new StateGraph(MessagesAnnotation)
      .addNode("again", async () => ({ messages: [] }))
      .addEdge(START, "again")
      .addConditionalEdges("again", () => "again", ["again", END])
      .compile({ name: "loop" });
    const tool = plainTool("loop", (config) =>
      loop.invoke(ASKED, { ...config, recursionLimit: 1 }),
    );
    await run(seen, strictAgent([says("", ["loop", "call_1"])], [tool]));
    expect(seen.of("tool_error")[0]?.event.kind).toBe("quota");
    expect(seen.of("failed").map(({ event }) => event.kind)).toEqual([
      { type: "usage_limit_exceeded" },
      { type: "usage_limit_exceeded" },
    ]);
  });

  it("that a tool threw end the run as the tool's, however they are wrapped", async () => {
    const seen = observe();
    const pay = plainTool("pay", () => {
      throw new Error("no account");
    });
    const chain = RunnableLambda.from(async (_: unknown, config) => {
      const failed: unknown = await pay.invoke({}, config).catch((error: unknown) => error);
      throw inMiddleware(inMiddleware(Object(failed)));
    });
    await run(seen, chain, ASKED);
    expect(seen.of("failed").map(({ event }) => [event.error, event.kind])).toEqual([
      ["no account", { type: "tool_error_terminal", kind: "internal", tool_name: "pay" }],
    ]);
  });
});
