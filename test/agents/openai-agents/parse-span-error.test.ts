import { describe, expect, it } from "vitest";
import { parseSpanError, thrownIn } from "../../../src/agents/openai-agents/parse-span-error.ts";
import { FROM_RUN, toolEnvelopeOf } from "../../../src/events/door.ts";
import { envelopeOf, renderForLlm } from "../../../src/index.ts";

describe("what the SDK says of a thrown value that is no error", () => {
  it.each([undefined, null, 42, "", { secret: 1 }])("is nothing: %j", (message) => {
    expect(parseSpanError({ message })).toEqual({
      text: "something that is no error was thrown",
      error: undefined,
      ofTool: false,
    });
  });
});

it("reads errors inside each other to a bounded depth", () => {
  const inner = "Failed to run function tools: Error: ";
  const message = `Error: ${inner.repeat(20_000)}x`;
  expect(parseSpanError({ message, data: { error: message } })).toMatchObject({ ofTool: true });
});

const ROWS: readonly [text: string, says: string | undefined, message: string, ofTool?: boolean][] =
  [
    ["MaxTurnsExceededError: Max turns (3) exceeded", "quota_exceeded", "Max turns (3) exceeded"],
    [
      'InputGuardrailTripwireTriggered: Input guardrail triggered: {"secret":1}',
      "invalid_request",
      "an input guardrail tripped",
    ],
    [
      'OutputGuardrailTripwireTriggered: Output guardrail triggered: {"a":1}',
      "invalid_request",
      "an output guardrail tripped",
    ],
    [
      "ToolInputGuardrailTripwireTriggered: Tool input guardrail triggered: pii",
      "invalid_request",
      "Tool input guardrail triggered: pii",
    ],
    [
      "ModelRefusalError: Model refused to produce output: I won't",
      "model_retry_exhausted",
      "the model refused to answer",
    ],
    [
      "ModelBehaviorError: Tool nope not found in agent A.",
      "model_retry_exhausted",
      "Tool nope not found in agent A.",
    ],
    [
      'ModelBehaviorError: Invalid output type: Unexpected token s, "secret 4711" is not valid JSON',
      "model_retry_exhausted",
      "the answer has the wrong output type",
    ],
    [
      "Tool output guardrail triggered: pii",
      "invalid_request",
      "Tool output guardrail triggered: pii",
    ],
    ["Tool 'x' timed out after 5ms.", "deadline_exceeded", "Tool 'x' timed out after 5ms.", true],
    ["UserError: no model", "config_error", "no model"],
    [
      "ToolTimeoutError: Tool 'x' timed out after 5ms.",
      "deadline_exceeded",
      "Tool 'x' timed out after 5ms.",
      true,
    ],
    ["AbortError: This operation was aborted", "cancelled", "This operation was aborted"],
    ["Request was aborted.", "cancelled", "Request was aborted."],
    [
      "TimeoutError: The operation was aborted due to timeout",
      "deadline_exceeded",
      "The operation was aborted due to timeout",
    ],
    ["Connection error.", "transport_failure", "Connection error."],
    ["Error: 401 bad key", "upstream_unauthorized", "401 bad key"],
    ["429 slow down", "rate_limited", "429 slow down"],
    ["503 down", "upstream_unavailable", "503 down"],
    [
      "ToolCallError: Failed to run function tools: AbortError: stop",
      "cancelled",
      "Failed to run function tools: AbortError: stop",
      true,
    ],
    [
      "ToolCallError: Failed to run function tools: RangeError: x",
      undefined,
      "Failed to run function tools: RangeError: x",
      true,
    ],
    [
      "GuardrailExecutionError: Input guardrail failed to complete: Error: 503 down",
      "upstream_unavailable",
      "Input guardrail failed to complete: Error: 503 down",
    ],
    ["TypeError: bug", undefined, "bug"],
    ["something", undefined, "something"],
  ];

/** The code stands in the text, whether the error's name does or not. */
const MCP_ROWS = [
  ["MCP error -32000: Connection closed", "transport_failure"],
  ["MCP error -32001: Request timed out", "transport_failure"],
  ["MCP error -32001: AbortError: This operation was aborted", "cancelled"],
  ["MCP error -32602: Invalid arguments for tool find", "invalid_request"],
  ["MCP error -32603: out of cheese", undefined],
] as const;

describe("the error of a span", () => {
  it.each(ROWS)("%s", (text, says, message, ofTool = false) => {
    const said = parseSpanError({ message: "Error in agent run", data: { error: text } });
    expect([said.error?.envelope().wire_code, said.text, said.ofTool]).toEqual([
      says,
      message,
      ofTool,
    ]);
  });

  it.each(MCP_ROWS)("of an MCP client: %s", (text, says) => {
    for (const error of [text, `McpError: ${text}`]) {
      const said = parseSpanError({ message: "Error in agent run", data: { error } });
      expect([said.error?.envelope().wire_code, said.text]).toEqual([says, text]);
    }
  });

  it("never has its own words in the text for the model, whatever name they begin with", () => {
    const secret = "alice_4711 declined";
    for (const [text] of [...ROWS, ...MCP_ROWS]) {
      const beginnings = [...text.matchAll(/: | |$/g)].map(({ 0: end, index }) =>
        text.slice(0, index + end.length),
      );
      for (const beginning of beginnings) {
        for (const fields of [`${beginning}${secret}`, { name: beginning, message: secret }]) {
          const said = parseSpanError({ message: secret, data: { error: fields } });
          const source = { origin: "tool", tool: "pay" } as const;
          expect(renderForLlm(thrownIn(said), source)).not.toContain("alice");
          expect(toolEnvelopeOf(thrownIn(said), source).wire_code).not.toContain("alice");
        }
      }
    }
  });

  it("has a limit of turns, and no other number", () => {
    const breachIn = (turns: string) =>
      envelopeOf(
        thrownIn(
          parseSpanError({ message: `MaxTurnsExceededError: Max turns (${turns}) exceeded` }),
        ),
        FROM_RUN,
      ).breach?.limit;
    expect(breachIn("12")).toBe(12);
    expect(breachIn("4242424242424242")).toBeUndefined();
  });

  it("is its message where it has no more", () => {
    expect(parseSpanError({ message: "429 slow down" }).error?.envelope().provider_status).toBe(
      429,
    );
  });

  it("may be fields, as models of the extensions package keep them", () => {
    const error = { name: "AI_APICallError", message: "Overloaded", statusCode: 529 };
    const said = parseSpanError({ message: "Overloaded", data: { error } });
    expect(said).toMatchObject({ text: "Overloaded", ofTool: false });
    expect(said.error?.envelope()).toMatchObject({
      wire_code: "upstream_unavailable",
      provider_status: 529,
    });
    expect(parseSpanError({ message: "Unknown error", data: { error: {} } })).toEqual({
      text: "Unknown error",
      error: undefined,
      ofTool: false,
    });
  });
});
