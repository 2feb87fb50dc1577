import type { TellIgnored } from "./run-context.ts";
import { MOST_ID_BYTES, type RunContext, type RunContextField } from "./run-context.ts";

/** The fields as somebody gave them. */
type GivenFields = { readonly [K in RunContextField]?: unknown };

/** A field whose carrier holds something that is known to be wrong. */
export const WRONG = Symbol("wrong");

/**
 * Checks what came in, or is to go out. Nothing of it is believed, since it may be a stranger's.
 *
 * @param nameOf what a field is called in the carrier, for `tell`.
 * @returns the fields that are as they should be; `undefined` where there is no parent to name.
 */
export function checkRunContext(
  given: GivenFields,
  nameOf: (field: RunContextField) => string,
  tell: TellIgnored,
): RunContext | undefined {
  const id = (field: RunContextField) => readId(given[field], nameOf(field), tell);
  const root_run_id = id("root_run_id");
  const parent_run_id = id("parent_run_id");
  if (root_run_id === undefined || parent_run_id === undefined) {
    // A run that stands in the wrong trace is worse than one that stands alone.
    if (root_run_id !== undefined && isAbsent(given.parent_run_id)) {
      tell(nameOf("parent_run_id"), "incomplete");
    }
    if (parent_run_id !== undefined && isAbsent(given.root_run_id)) {
      tell(nameOf("root_run_id"), "incomplete");
    }
    return undefined;
  }
  const traceparent = readTraceparent(given.traceparent, nameOf("traceparent"), tell);
  const tracestate =
    traceparent === undefined
      ? undefined
      : readTracestate(given.tracestate, nameOf("tracestate"), tell);
  const parent_tool_use_id = id("parent_tool_use_id");
  const thread_id = id("thread_id");
  return {
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(tracestate === undefined ? {} : { tracestate }),
    root_run_id,
    parent_run_id,
    ...(parent_tool_use_id === undefined ? {} : { parent_tool_use_id }),
    ...(thread_id === undefined ? {} : { thread_id }),
  };
}

/** Whether a field is not there; programs give `null` and `""` for none, too. */
export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function readId(value: unknown, name: string, tell: TellIgnored): string | undefined {
  const text = readText(value, name, tell);
  if (text === undefined) return undefined;
  // The length first: counting bytes takes time.
  if (text.length <= MOST_ID_BYTES && Buffer.byteLength(text) <= MOST_ID_BYTES) return text;
  tell(name, "too_long");
  return undefined;
}

function readTraceparent(value: unknown, name: string, tell: TellIgnored): string | undefined {
  const text = readText(value, name, tell);
  if (text === undefined || isTraceparent(text)) return text;
  tell(name, "malformed");
  return undefined;
}

function readTracestate(value: unknown, name: string, tell: TellIgnored): string | undefined {
  const text = readText(value, name, tell);
  if (text === undefined) return undefined;
  const fit = fitTracestate(text);
  if (fit === undefined) tell(name, "malformed");
  return fit;
}

function readText(value: unknown, name: string, tell: TellIgnored): string | undefined {
  if (isAbsent(value) || value === WRONG) return undefined;
  if (typeof value === "string") return value;
  tell(name, "malformed");
  return undefined;
}

const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]*)?$/;
/** Length of a `traceparent` of version 00; later ones may have more behind. */
const USUAL_LENGTH = 55;
const MOST_TRACEPARENT = 256;

/** The bounds of the W3C recommendation that everybody has to pass on. */
const MOST_TRACESTATE = 512;
const MOST_MEMBERS = 32;
/** Members that go first when there is too much. */
const LONG_MEMBER = 128;

const KEY = /^[a-z0-9][a-z0-9_\-*/]{0,255}(?:@[a-z][a-z0-9_\-*/]{0,13})?$/;
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Whether a text is a W3C `traceparent` of any version. */
export function isTraceparent(text: string): boolean {
  return (
    text.length <= MOST_TRACEPARENT &&
    TRACEPARENT.test(text) &&
    (text.length === USUAL_LENGTH || !text.startsWith("00"))
  );
}

/** The trace id in a `traceparent`. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}

/**
 * A `tracestate` within the bounds of W3C's recommendation, as it has it: whole members go, first those
 * of more than 128 characters, then the last ones. Of members with one key the first stays.
 *
 * @returns `undefined` when nothing is left, or a member is malformed.
 */
function fitTracestate(text: string): string | undefined {
  // Past this nobody has meant it; and no attacker's text is taken apart at length.
  if (text.length > 16 * MOST_TRACESTATE) return undefined;
  const members = new Map<string, string>();
  for (const part of text.split(",")) {
    const member = trimmedMember(part);
    if (member === "") continue;
    const at = member.indexOf("=");
    const key = member.slice(0, at);
    if (at < 1 || !KEY.test(key) || !VALUE.test(member.slice(at + 1))) return undefined;
    if (!members.has(key)) members.set(key, member);
  }
  let kept = [...members.values()];
  if (tooMuch(kept)) kept = kept.filter((member) => member.length <= LONG_MEMBER);
  while (tooMuch(kept)) kept.pop();
  return kept.length === 0 ? undefined : kept.join(",");
}

/** Without the blanks and tabs around it, which are all the blanks that W3C allows. */
function trimmedMember(part: string): string {
  let [from, to] = [0, part.length];
  while (from < to && isBlank(part[from])) from += 1;
  while (to > from && isBlank(part[to - 1])) to -= 1;
  return part.slice(from, to);
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

function tooMuch(members: readonly string[]): boolean {
  return members.length > MOST_MEMBERS || members.join(",").length > MOST_TRACESTATE;
}
