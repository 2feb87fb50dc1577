import { describe, expect, it } from "vitest";
import { asks, FakeCall, listen, text } from "./fake-sdk.ts";
import { FakeCall6, listen6 } from "./fake-sdk-6.ts";

const boom = () => {
  throw new RangeError("out of order");
};

/** The tool calls that were sent: the tool, and its error or `complete`. */
const callsOf = (heard: ReturnType<typeof listen>) =>
  heard.sent.flatMap(({ event }) => {
    if (event.type === "tool_complete") return [[event.tool, "complete"]];
    return event.type === "tool_error" ? [[event.tool, event.error]] : [];
  });

describe("a tool call with an empty ID", () => {
  it("has an ID of its own", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    const [add, look] = [asks("add", ""), asks("look", "")];
    await call.start();
    await call.model({});
    call.answers([add, look]);
    await Promise.all([call.tool(add, boom), call.tool(look, () => 2)]);
    call.step([add, look, { ...add, type: "tool-error" }, { ...look, type: "tool-result" }]);
    await call.finish([]);
    expect(callsOf(heard)).toEqual([
      ["look", "complete"],
      ["add", "out of order"],
    ]);
    const ids = heard.ofType("tool_start").map(({ tool_use_id }) => tool_use_id);
    expect(new Set([...ids, ""]).size).toBe(3);
    expect(heard.ofType("tool_error")[0]?.tool_use_id).toBe(ids[0]);
    expect(heard.ofType("complete")[0]).toMatchObject({ usage: { tool_calls: 2 } });
  });

  it("has an ID of its own in the AI SDK 6", async () => {
    const heard = listen6();
    const call = new FakeCall6(heard.tracer);
    await call.generate(async () => {
      await call.model([asks("add", "")]);
      await call.tool(asks("add", ""), boom);
      await call.model([]);
    });
    expect(callsOf(heard)).toEqual([["add", "out of order"]]);
    expect(heard.ofType("tool_start")[0]?.tool_use_id).not.toBe("");
  });
});

describe("calls of one answer with the same ID", () => {
  it("are each shown: of an unknown tool, with a wrong input, and two that were made", async () => {
    const heard = listen();
    const call = new FakeCall(heard.telemetry);
    const [add, text] = [asks("add", "c"), asks("text", "c")];
    const throwsText = () => {
      throw "a text";
    };
    const wrong = { type: "tool-error", toolCallId: "c", input: {}, dynamic: true };
    await call.start({ tools: { add: {}, text: {} } });
    await call.model({});
    call.answers([asks("nope", "c"), add, add, text]);
    await call.tool(add, boom);
    await call.tool(text, throwsText);
    call.step([
      { ...wrong, toolName: "nope", error: "unavailable tool 'nope'" },
      { ...wrong, toolName: "add", error: "Invalid input for tool add" },
      { ...wrong, toolName: "add", error: new RangeError("out of order") },
      { ...wrong, toolName: "text", error: "a text" },
    ]);
    await call.finish([]);
    expect(callsOf(heard)).toEqual([
      ["nope", "nope was not called: the agent has no such tool"],
      ["add", "add was not called: its input does not fit"],
      ["add", "out of order"],
      ["text", "a text"],
    ]);
    expect(heard.ofType("complete")[0]).toMatchObject({ usage: { tool_calls: 4 } });
  });

  it("are each shown in the AI SDK 6, if their tools differ", async () => {
    const heard = listen6();
    const call = new FakeCall6(heard.tracer);
    await call.generate(async () => {
      await call.model([asks("nope", "c"), asks("add", "c")]);
      await call.tool(asks("add", "c"), () => 2);
      await call.model([]);
    });
    expect(callsOf(heard)).toEqual([
      ["add", "complete"],
      ["nope", "nope was not called: the agent has no such tool"],
    ]);
  });

  it("are each shown in the AI SDK 6, also of one tool and in several answers", async () => {
    const heard = listen6();
    const call = new FakeCall6(heard.tracer);
    const wrong = { q: "wrong" };
    await call.generate(async () => {
      await call.model([asks("add", "c", wrong), asks("add", "c", { q: 1 })]);
      await call.tool(asks("add", "c", { q: 1 }), () => 2);
      await call.model([asks("add", "c", wrong)]);
      await call.model([asks("add", "c", wrong)]);
      call.steps.push({
        content: [{ ...asks("add", "c", wrong), type: "tool-error", error: "no" }],
      });
    });
    const refused = ["add", "add was not called: its input does not fit"];
    expect(callsOf(heard)).toEqual([["add", "complete"], refused, refused, refused]);
    expect(heard.ofType("tool_start").map(({ input }) => input)).toEqual([
      { q: 1 },
      wrong,
      wrong,
      wrong,
    ]);
  });
});

describe("a call of the AI SDK 6 whose name was repaired", () => {
  it("is one call", async () => {
    const heard = listen6();
    const call = new FakeCall6(heard.tracer);
    await call.generate(async () => {
      await call.model([asks("Add", "c")]);
      await call.tool(asks("add", "c"), () => 2);
      await call.model([text("done")]);
    });
    expect(callsOf(heard)).toEqual([["add", "complete"]]);
  });
});
