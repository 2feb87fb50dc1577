import { ownValue } from "../polluted-prototype.ts";
import { asAgentError } from "./as-agent-error.ts";

/**
 * Reads a property of any thrown value. `undefined` if a getter or Proxy throws, because handling an error must not
 * fail, and for what other code added to `Object.prototype`.
 */
export function property(value: unknown, key: string | symbol): unknown {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) {
    return undefined;
  }
  try {
    return ownValue(value, key);
  } catch {
    return undefined;
  }
}

/** A property that is a non-empty text, else `undefined`. */
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
 * Whether a thrown value has one of these names, as its `name` or as the name of its class. The errors of OpenAI's
 * SDK are all named "Error".
 */
export function hasName(thrown: unknown, names: ReadonlySet<string>): boolean {
  return names.has(textProperty(thrown, "name") ?? "") || names.has(constructorName(thrown));
}

const NAMES = new Set(["SuppressedError"]);

/**
 * The original error in a SuppressedError, which `using` throws if cleaning up fails as well. `undefined` for any
 * other value.
 */
export function suppressedIn(thrown: unknown): unknown {
  return hasName(thrown, NAMES) ? property(thrown, "suppressed") : undefined;
}

/** Most inner errors whose texts are shown. */
const MAX_ERRORS = 4;

/**
 * The message of a thrown value, else the messages of the errors inside it. Node's error for a host without a
 * reachable address has no message of its own, and that of a SuppressedError is always the same.
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
 * The operator's text of any thrown value: its message, else a description. It adds how a connection failed if only a
 * cause says so. Never throws.
 */
export function operatorText(thrown: unknown): string {
  const text = thrownMessage(thrown) ?? described(thrown);
  const connection = connectionText(thrown);
  return connection === undefined || text.includes(connection) ? text : `${text} (${connection})`;
}

/** Describes a value without a message. */
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
 * How a connection failed, from the cause: `fetch failed` alone does not help. Texts of other causes are left out,
 * because they may quote content.
 */
function connectionText(thrown: unknown): string | undefined {
  const known = asAgentError(thrown);
  if (known === undefined || known === thrown) return undefined;
  const { detail } = known;
  return detail.type === "provider" && detail.kind !== "http" ? detail.message : undefined;
}

/** The operator's text of a call that was open when its run ended. A call that paused its run has only the pause. */
export function cutText(error: unknown): string {
  const text = operatorText(error);
  const isPause = asAgentError(error)?.detail.type === "interrupted";
  return isPause ? text : `${text}: the run ended while the call was open`;
}
