import { describe, expect, it } from "vitest";
import { withVocabulary } from "../../../src/view/sources/other-span.ts";
import { entriesUnder } from "../../../src/view/sources/vocabularies/indexed-attributes.ts";
import { costOf } from "../../../src/view/sources/vocabularies/reading.ts";
import { messages, otherSpan } from "../support/other-spans.ts";
import { viewSpan } from "../support/view-span.ts";

const DEEP = "[".repeat(20_000) + "]".repeat(20_000);

/** Values that no instrumentation sends. */
const VALUES = [
  ["text", "x"],
  ["an empty text", ""],
  ["broken JSON", '{"messages":['],
  ["nested lists", DEEP],
  ["null", "null"],
  ["a prototype", '{"__proto__":{"role":"x"},"constructor":1}'],
  ["a list of everything", '[null,1,"x",[],{},{"role":1},{"role":"user","content":{"a":1}}]'],
  ["messages of the wrong type", '{"messages":[[1]],"generations":[[null]],"args":[null]}'],
  ["a number", -1],
  ["a huge number", 1e308],
  ["a list", ["a", 1, true]],
  ["a boolean", true],
] as const;

const NAMES = [
  ...["ai.prompt", "ai.prompt.messages", "ai.response.toolCalls", "ai.response.text"],
  ...["ai.toolCall.args", "ai.toolCall.result", "ai.usage.inputTokens", "ai.model.id"],
  ...["input.value", "output.value", "metadata", "llm.cost.total", "llm.token_count.prompt"],
  ...["llm.input_messages.0.message.role", "llm.input_messages.0.message.content", "session.id"],
  ...["llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments", "tool.name"],
  ...["langfuse.observation.input", "langfuse.observation.output", "langfuse.observation.level"],
  ...["langfuse.observation.usage_details", "langfuse.observation.cost_details"],
  ...["traceloop.entity.input", "traceloop.entity.output", "traceloop.entity.name"],
  ...["gen_ai.prompt", "gen_ai.completion", "gen_ai.prompt.0.content", "gen_ai.usage.cost"],
];

const KINDS = [
  ...["generateText", "generateText.doGenerate", "toolCall", "embed", "__proto__"].map(
    (word) => ["ai.operationId", `ai.${word}`] as const,
  ),
  ...["LLM", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "__proto__"].map(
    (word) => ["openinference.span.kind", word] as const,
  ),
  ...["generation", "tool", "agent", "span", "retriever", "constructor"].map(
    (word) => ["langfuse.observation.type", word] as const,
  ),
  ...["agent", "workflow", "tool", "task"].map((word) => ["traceloop.span.kind", word] as const),
  ...["chat", "invoke_agent", "execute_tool"].map(
    (word) => ["gen_ai.operation.name", word] as const,
  ),
];

describe("hostile spans of other instrumentation", () => {
  it.each(VALUES)("reads %s as any attribute", (_, value) => {
    for (const [name, word] of KINDS) {
      const attributes = Object.fromEntries(NAMES.map((each) => [each, value]));
      const span = otherSpan({ ...attributes, [name]: word });
      expect(span.vocabulary).toBeTypeOf("string");
      for (const added of Object.keys(span.attributes)) {
        expect(["string", "number", "boolean", "object"]).toContain(typeof span.attributes[added]);
      }
      expect(messages(span).length).toBeLessThan(10);
    }
  });

  it("reads any index, in the order of the numbers, without a list of that length", () => {
    const flat = new Map([
      ["m.4294967295.role", "c"],
      ["m.999999999999999.role", "d"],
      ["m.9999999999999999999999.role", "too long"],
      ["m.2.role", "a"],
      ["m.10.role", "b"],
      ["m.-1.role", "no index"],
      ["m.1e3.role", "no index"],
      ["m.__proto__.role", "no index"],
      ["m.5", "no field"],
      ["m.5.", "no field"],
      ["mm.0.role", "another list"],
    ]);
    expect(entriesUnder(flat, "m").map((entry) => entry.get("role"))).toEqual(["a", "b", "c", "d"]);
  });

  it("retains attributes named like a prototype", () => {
    const attributes = JSON.parse('{"openinference.span.kind":"LLM","__proto__":"x"}');
    const read = withVocabulary(viewSpan("1", "0", { from: 0, to: 1 }, { attributes }));
    expect(Object.getOwnPropertyDescriptor(read.attributes, "__proto__")?.value).toBe("x");
    expect(Object.getPrototypeOf(read.attributes)).toBe(Object.prototype);
    const message = "llm.input_messages.0.message";
    const hostile = otherSpan({
      "openinference.span.kind": "LLM",
      [`${message}.__proto__`]: "x",
      [`${message}.role`]: "__proto__",
      [`${message}.content`]: "hi",
    });
    expect(messages(hostile)).toEqual(["input __proto__: hi"]);
  });

  it("reads 5,000 messages and 10,000 calls in attributes", () => {
    const attributes: Record<string, string> = { "openinference.span.kind": "LLM" };
    for (let at = 0; at < 5000; at += 1) {
      attributes[`llm.input_messages.${at}.message.content`] = `text ${at}`;
      const calls = "llm.output_messages.0.message.tool_calls";
      attributes[`${calls}.${2 * at}.tool_call.function.name`] = "a";
      attributes[`${calls}.${2 * at + 1}.tool_call.function.name`] = "b";
    }
    const read = withVocabulary(viewSpan("1", "0", { from: 0, to: 1 }, { attributes }));
    expect(JSON.parse(String(read.attributes["gen_ai.input.messages"]))).toHaveLength(5000);
    expect(JSON.parse(String(read.attributes["gen_ai.output.messages"]))[0].parts).toHaveLength(
      10_000,
    );
  });

  it("adds only costs that are decimal numbers from 0", () => {
    expect(costOf([0.1, 0.2, "0.30", null, "x", -1, Number.NaN, 1e300, "1e5", [1]])).toBe("0.60");
    expect(costOf([undefined, "", {}])).toBeUndefined();
  });
});
