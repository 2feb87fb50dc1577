import { describe, expect, it } from "vitest";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import type { IsFailure } from "../../../src/entries/runtime.ts";
import { Told } from "./said.ts";

const base = { agent: "support", tenant: "acme" };

async function returned(result: unknown, isFailure?: IsFailure) {
  const sink = new Told();
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const given = await runAgent({ sink, ...base, isFailure, onError }, (run) =>
    run.tool("search", { id: "call_1" }, () => result),
  );
  expect(given).toBe(result);
  return { said: sink.said(), sink, errors };
}

const COMPLETE = ["started support", "tool_start search", "tool_complete search", "complete"];
const failed = (kind: string) => [
  "started support",
  "tool_start search",
  `tool_error search ${kind} tool_result_error`,
  "complete",
];

describe("a result that says that the call failed", () => {
  it.each([
    [{ isError: true, content: [{ type: "text", text: "no such index" }] }, "no such index"],
    [
      {
        isError: true,
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      "a\nb",
    ],
    [{ isError: true, content: [{ type: "image" }] }, '[{"type":"image"}]'],
    [{ tool_call_id: "c", status: "error", content: "refused" }, "refused"],
    [{ isError: true }, '{"isError":true}'],
    [{ isError: true, content: "text" }, "text"],
    ['{"isError":true,"content":[]}', '{"isError":true,"content":[]}'],
  ])("%j is a tool error with the model's text, and the run goes on", async (result, text) => {
    const { said, sink } = await returned(result);
    expect(said).toEqual(failed("internal"));
    expect(sink.only("tool_error")).toMatchObject({
      error: "the result of search says that it failed",
      error_for_llm: text,
      envelope: { wire_code: "tool_result_error", wire_class: "server", origin: "tool" },
    });
  });

  it.each([
    ["MCP error -32602: Tool search not found", "tool_unknown"],
    ["MCP error -32602: Tool search disabled", "tool_unknown"],
    ["MCP error -32602: Input validation error: Invalid arguments", "tool_input_invalid"],
    ["<tool_use_error>Error: No such tool available: search</tool_use_error>", "tool_unknown"],
    ["<tool_use_error>InputValidationError: …</tool_use_error>", "tool_input_invalid"],
  ])("%j is a call that was not made", async (text, code) => {
    const { sink } = await returned({ isError: true, content: [{ type: "text", text }] });
    expect(sink.only("tool_error")).toMatchObject({
      error_for_llm: text,
      envelope: { wire_code: code, wire_class: "client", origin: "tool" },
      kind: "validation",
    });
  });

  it.each([
    "MCP error -32602: Output validation error: Invalid structured content for tool search: n",
    "MCP error -32602: Output validation error: Tool search has an output schema but no …",
    "MCP error -32602: Invalid structured content for tool search: n",
    "MCP error -32602: Tool search has an output schema but no structured content was provided",
  ])("%j is a call whose tool ran", async (text) => {
    const { sink } = await returned({ isError: true, content: [{ type: "text", text }] });
    expect(sink.only("tool_error")).toMatchObject({
      error: "the result of search says that it failed",
      error_for_llm: text,
      envelope: { wire_code: "tool_result_error", wire_class: "server", origin: "tool" },
      kind: "internal",
    });
  });

  it("is JSON where the content has no text", async () => {
    const texts: unknown[] = [];
    const circle: unknown[] = [1n];
    for (const content of [[1n], circle]) {
      const { sink } = await returned({ isError: true, content });
      texts.push(sink.only("tool_error").error_for_llm);
      circle.push(circle);
    }
    expect(texts).toEqual(["[1]", '[1,"[unserializable: it contains itself]"]']);
  });

  it.each([
    [{ isError: "true", content: [] }],
    ['{"isError": false}'],
    ['{"isError": true'],
    ['[{"isError":true}]'],
    [{ isError: false, content: [] }],
    [{ status: "error" }],
    [{ status: "success", tool_call_id: "c" }],
    [null],
    [undefined],
    ["error"],
  ])("%j is a result", async (result) => {
    expect((await returned(result)).said).toEqual(COMPLETE);
  });

  it("is what the predicate says, of the kind that it names", async () => {
    const calls: unknown[] = [];
    const isFailure: IsFailure = (result, call) => {
      calls.push(call);
      return result === "429" ? "rate_limit" : result === "bad";
    };
    expect((await returned("429", isFailure)).said).toEqual(failed("rate_limit"));
    expect((await returned("bad", isFailure)).said).toEqual(failed("internal"));
    expect((await returned({ isError: true, content: [] }, isFailure)).said).toEqual(COMPLETE);
    expect(calls[0]).toEqual({ tool: "search", toolUseId: "call_1" });
  });

  it("is what it is without one, where the predicate says nothing or throws", async () => {
    const result = { isError: true, content: [] };
    expect((await returned(result, () => undefined)).said).toEqual(failed("internal"));
    const thrown = new Error("broken");
    const { said, errors } = await returned(result, () => {
      throw thrown;
    });
    expect([said, errors]).toEqual([failed("internal"), [thrown]]);
  });

  it("holds in sub-agents too", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base, isFailure: () => true }, () =>
      runAgent({ agent: "child" }, (run) => run.tool("a", () => 1)),
    );
    expect(sink.only("tool_error").envelope.wire_code).toBe("tool_result_error");
  });

  it.each([[true], [{}]])("refuses %j as a predicate", async (isFailure) => {
    const options = { sink: new Told(), ...base, isFailure: isFailure as unknown as IsFailure };
    await expect(runAgent(options, () => 1)).rejects.toThrow("isFailure: expected a function");
  });
});
