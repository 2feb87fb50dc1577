import type { ViewSpan } from "../../../src/view/format.ts";
import type { ExchangeItem } from "../../../src/view/model/exchange-items.ts";
import { viewSpan } from "./view-span.ts";

/** A message with one text, in the form of the conventions. */
export function said(role: string, content: string) {
  return { role, parts: [{ type: "text", content }] };
}

export function userText(content: string) {
  return said("user", content);
}

export function answerOf(content: string) {
  return { ...said("assistant", content), finish_reason: "stop" };
}

/** A message that asks for a tool call. */
export function asks(id: string, name: string, input: unknown) {
  return { role: "assistant", parts: [{ type: "tool_call", id, name, arguments: input }] };
}

export function resultOf(id: string, response: unknown) {
  return { role: "tool", parts: [{ type: "tool_call_response", id, response }] };
}

/** A model call of half a ms. @param output `undefined`: it failed. */
export function modelSpan(
  id: string,
  from: number,
  input: readonly unknown[],
  output: readonly unknown[] | undefined,
  rest: Partial<ViewSpan> = {},
): ViewSpan {
  const answer = output === undefined ? {} : { "gen_ai.output.messages": JSON.stringify(output) };
  return viewSpan(
    id,
    "run",
    { from, to: from + 0.5 },
    {
      kind: "model",
      name: "chat gpt-5-mini",
      failed: output === undefined,
      ...(output === undefined ? { message: "429 slow down" } : {}),
      ...rest,
      attributes: {
        "gen_ai.request.model": "gpt-5-mini",
        "gen_ai.input.messages": JSON.stringify(input),
        ...answer,
        ...rest.attributes,
      },
    },
  );
}

/** The texts of messages, in order. */
export function textsOf(items: readonly ExchangeItem[]): readonly string[] {
  return items.flatMap((item) => {
    if (item.kind === "earlier") return textsOf(item.items);
    return item.kind === "message" ? item.message.parts.map(({ text }) => text) : [];
  });
}
