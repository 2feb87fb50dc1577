import type { ErrorEnvelope, ToolErrorKind } from "./error-kinds.ts";
import { resultText } from "./llm-text.ts";
import { MCP_PREFIX, refusesResult } from "./thrown-rpc.ts";
import type { ToolFailure } from "./tool-result.ts";

/**
 * Why a call of the model's answer was not made. It is the wire code of the call's error.
 *
 * - `tool_unknown`: the agent has no tool of that name.
 * - `tool_input_invalid`: the input is not JSON, or does not fit the tool's schema.
 * - `tool_not_called`: the framework, or code of the application in it, answered the call with an error.
 */
export type NotMade = keyof typeof KINDS;

const KINDS = {
  tool_unknown: "validation",
  tool_input_invalid: "validation",
  tool_not_called: "internal",
} as const satisfies Record<string, ToolErrorKind>;

const NO_SUCH_TOOL =
  /not found|unavailable tool|(?:unknown|no such) tool|not a (?:valid|registered) tool/i;
const NO_FIT =
  /schema|validation|(?:invalid|parsing) (?:input|arg|param|tool input)|invalid_type|parse structured output/i;

/**
 * Why a framework answered a call itself.
 *
 * @param text the text for the model.
 * @param isOffered whether the model had a tool of that name. Default: not known.
 * @param otherwise if the text does not say why.
 */
export function whyNotMade(
  text: string,
  isOffered?: boolean,
  otherwise: NotMade = "tool_not_called",
): NotMade {
  if (isOffered === false || (isOffered === undefined && NO_SUCH_TOOL.test(text))) {
    return "tool_unknown";
  }
  return NO_FIT.test(text) ? "tool_input_invalid" : otherwise;
}

/** The texts with which the servers of the Claude Agent SDK answer such calls as results. */
const ANSWERS: readonly (readonly [prefix: RegExp, code: NotMade])[] = [
  [/^<tool_use_error>Error: No such tool/, "tool_unknown"],
  [/^<tool_use_error>InputValidationError/, "tool_input_invalid"],
];

const NO_MCP_TOOL = /^(?:tool\b.{0,200} (?:not found|disabled)|(?:unknown|no such) tool)/i;

/**
 * Why a server of MCP refused a call with its error of invalid parameters. `undefined`: the tool ran, and its result was
 * refused.
 *
 * @param message with or without the prefix of a client.
 */
export function refusalIn(message: string): NotMade | undefined {
  if (refusesResult(message)) return undefined;
  return NO_MCP_TOOL.test(message.replace(MCP_PREFIX, "")) ? "tool_unknown" : "tool_input_invalid";
}

/** Why a call was not made, if that is what a result with an error says. */
export function notMadeIn(text: string): NotMade | undefined {
  if (text.startsWith("MCP error -32602: ")) return refusalIn(text);
  return ANSWERS.find(([prefix]) => prefix.test(text))?.[1];
}

export function notMadeEnvelope(code: NotMade): ErrorEnvelope {
  const wire_class = KINDS[code] === "validation" ? "client" : "server";
  return { wire_code: code, wire_class, origin: "tool" };
}

/** The failure of a call that was not made. @param text for the model. */
export function notMadeFailure(tool: string, code: NotMade, text: string): ToolFailure {
  return {
    error: TEXTS[code](tool),
    error_for_llm: resultText(text),
    envelope: notMadeEnvelope(code),
    kind: KINDS[code],
  };
}

/** For operators, so without the input and the model's text. */
const TEXTS: Readonly<Record<NotMade, (tool: string) => string>> = {
  tool_unknown: (tool) => `${tool} was not called: the agent has no such tool`,
  tool_input_invalid: (tool) => `${tool} was not called: its input does not fit`,
  tool_not_called: (tool) => `${tool} was not called: the call was answered with an error`,
};
