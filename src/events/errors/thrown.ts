import { asAgentError } from "./as-agent-error.ts";

/**
 * Reads a property of anything thrown. Getters and Proxies may throw in turn; that reads as
 * `undefined`, for an error path must not fail.
 */
export function property(value: unknown, key: string | symbol): unknown {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) {
    return undefined;
  }
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}

/** A property that is text and not empty, else `undefined`. */
export function textProperty(value: unknown, key: string): string | undefined {
  const text = property(value, key);
  return typeof text === "string" && text !== "" ? text : undefined;
}

/** The first `max` elements of a property that is an array, else none. */
export function listProperty(value: unknown, key: string, max: number): readonly unknown[] {
  const list = property(value, key);
  if (!isArray(list)) return [];
  const length = property(list, "length");
  const end = typeof length === "number" ? Math.min(length, max) : 0;
  const elements: unknown[] = [];
  for (let i = 0; i < end; i++) elements.push(property(list, String(i)));
  return elements;
}

/** The name of a thrown value's class, or its type when it has none. */
export function constructorName(value: unknown): string {
  if (value === null) return "null";
  return textProperty(property(value, "constructor"), "name") ?? typeof value;
}

/** `Array.isArray`, which throws for a revoked Proxy. */
export function isArray(value: unknown): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * Whether a thrown value goes by one of these names: its `name`, or its class's (the errors of
 * OpenAI's SDK are all named "Error").
 */
export function hasName(thrown: unknown, names: ReadonlySet<string>): boolean {
  return names.has(textProperty(thrown, "name") ?? "") || names.has(constructorName(thrown));
}

const NAMES = new Set(["SuppressedError"]);

/**
 * What a SuppressedError came of, which `using` makes when cleaning up fails too: the error that the
 * work ended with. `undefined` for anything else.
 */
export function suppressedIn(thrown: unknown): unknown {
  return hasName(thrown, NAMES) ? property(thrown, "suppressed") : undefined;
}

/** Most errors within one error whose texts are shown. */
const MAX_ERRORS = 4;

/**
 * What a thrown value says of itself: its message, else those of the errors that it holds. Node's
 * error for a host of which no address answers has no message of its own, and that of a
 * SuppressedError is always the same.
 */
export function thrownMessage(thrown: unknown): string | undefined {
  let at = thrown;
  const closing: unknown[] = [];
  for (let left = MAX_ERRORS; left > 0; left -= 1) {
    const suppressed = suppressedIn(at);
    if (suppressed === undefined) break;
    closing.unshift(property(at, "error"));
    at = suppressed;
  }
  const message = textProperty(at, "message");
  if (message !== undefined && closing.length === 0) return message;
  const held = message === undefined ? listProperty(at, "errors", MAX_ERRORS) : [at];
  const texts = [...held, ...closing]
    .map((error) => textProperty(error, "message"))
    .filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : texts.join("; ");
}

/**
 * The operator's text of anything thrown: its message, else what it is; and how a connection failed,
 * where only a cause says it. Never throws.
 */
export function operatorText(thrown: unknown): string {
  const text = thrownMessage(thrown) ?? described(thrown);
  const connection = connectionText(thrown);
  return connection === undefined || text.includes(connection) ? text : `${text} (${connection})`;
}

/** What has no message. */
function described(thrown: unknown): string {
  switch (typeof thrown) {
    case "object":
    case "function":
      return thrown === null
        ? "null was thrown"
        : `${constructorName(thrown)} was thrown, without a message`;
    case "string":
      return thrown === "" ? "an empty text was thrown" : thrown;
    default:
      return `${String(thrown)} was thrown`;
  }
}

/**
 * How a connection failed, as the cause says it: `fetch failed` alone does not help. The texts of other
 * causes are left out, since they may quote content.
 */
function connectionText(thrown: unknown): string | undefined {
  const known = asAgentError(thrown);
  if (known === undefined || known === thrown) return undefined;
  const { detail } = known;
  return detail.type === "provider" && detail.kind !== "http" ? detail.message : undefined;
}

/** The operator's text of a call that the run's end cut off. */
export function cutText(error: unknown): string {
  return `${operatorText(error)}: the run ended while the call was open`;
}
