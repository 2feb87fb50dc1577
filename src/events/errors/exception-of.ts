import { asAgentError } from "./as-agent-error.ts";
import { constructorName, operatorText, textProperty } from "./thrown.ts";
import type { ToolFailure } from "./tool-result.ts";

/** The exception behind a failure. Operator text. */
export interface ExceptionDetails {
  /** Name of the error's class. */
  readonly type: string;
  readonly message?: string;
  readonly stacktrace?: string;
}

/** Most UTF-16 units of each field, so that an error does not multiply the size of its event. */
const MOST_TYPE = 256;
const MOST_MESSAGE = 4_096;
const MOST_STACK = 16_384;

/** Classes that say less than the `name` of their errors. */
const UNTELLING = new Set(["Error", "DOMException", "Object"]);

/** Start of V8's list of calls in a stack. */
const FIRST_CALL = /\n {4}at /;

/**
 * The exception of any thrown value: class, text and stack, each cut to its limit. `undefined` for a pause and for a
 * cancellation. Reads only text properties, and never throws.
 *
 * @param text the operator's text, if the error's own message may quote content. The stack then has this text, too.
 *   Default: the error's message.
 *
 * @example
 * sink.send(failed, { ...envelope, details: { exception: exceptionOf(error) } });
 */
export function exceptionOf(thrown: unknown, text?: string): ExceptionDetails | undefined {
  if (isNoFailure(thrown)) return undefined;
  const type = classOf(thrown);
  const message = text ?? operatorText(thrown);
  const stack = stackOf(thrown, type, text);
  return {
    type: cut(type, MOST_TYPE),
    message: cut(message, MOST_MESSAGE),
    ...(stack === undefined ? {} : { stacktrace: cut(stack, MOST_STACK) }),
  };
}

/**
 * The same, as the details of an event.
 *
 * @param shown the error whose class and stack are used, if it is another one.
 */
export function exceptionDetails(
  thrown: unknown,
  text?: string,
  shown: unknown = thrown,
): { readonly exception: ExceptionDetails } | undefined {
  const exception = isNoFailure(thrown) ? undefined : exceptionOf(shown, text);
  return exception === undefined ? undefined : { exception };
}

/** The same for a failure that a tool returned. Nothing was thrown, so its wire code is the class. */
export function resultException({ envelope, error }: ToolFailure) {
  return { exception: { type: envelope.wire_code, message: error } };
}

function isNoFailure(thrown: unknown): boolean {
  const known = asAgentError(thrown)?.detail.type;
  return known === "interrupted" || known === "cancelled";
}

function classOf(thrown: unknown): string {
  const name = constructorName(thrown);
  return UNTELLING.has(name) ? (textProperty(thrown, "name") ?? name) : name;
}

function stackOf(thrown: unknown, type: string, text: string | undefined): string | undefined {
  const stack = textProperty(thrown, "stack");
  if (stack === undefined || text === undefined) return stack;
  // The message may look like a stack itself, so the search for the calls starts behind it.
  const message = textProperty(thrown, "message");
  if (message === text) return stack;
  const head = message === undefined ? 0 : stack.indexOf(message);
  if (head < 0) return undefined;
  const rest = stack.slice(head + (message?.length ?? 0));
  const calls = FIRST_CALL.exec(rest);
  return calls === null ? undefined : `${type}: ${text}${rest.slice(calls.index)}`;
}

/** At most `most` UTF-16 units, without half of a surrogate pair at the end. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}
