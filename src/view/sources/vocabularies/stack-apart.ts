import type { ViewSpan } from "../../format.ts";

/**
 * Separates message and stack, which some instrumentations put into one text: in the description of the status, and in
 * the messages of exceptions without a stack.
 */
export function withStackApart(span: ViewSpan): ViewSpan {
  const { events, message } = span;
  if (message === undefined || !STACK.test(message)) return span;
  return {
    ...span,
    message: parts(message).text,
    events: events.map((event) => {
      const given = event.attributes["exception.message"];
      if (typeof given !== "string" || !STACK.test(given)) return event;
      const { stack, text } = parts(given);
      const attributes = { "exception.stacktrace": stack, ...event.attributes };
      return { ...event, attributes: { ...attributes, "exception.message": text } };
    }),
  };
}

const STACK = /\n {4}at /;

/** `message`, an empty line, `Error: message`, and the calls. */
function parts(whole: string): { readonly text: string; readonly stack: string } {
  const calls = whole.search(STACK);
  const gap = whole.lastIndexOf("\n\n", calls);
  const at = gap < 0 ? calls : gap;
  return { text: whole.slice(0, at), stack: whole.slice(at).trimStart() };
}
