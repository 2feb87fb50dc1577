import type { ReportIgnored } from "./run-context.ts";
import { MOST_ID_BYTES, type RunContext, type RunContextField } from "./run-context.ts";

/** The fields before they are checked. */
type GivenFields = { readonly [K in RunContextField]?: unknown };

/** Marks a field whose value in the carrier is known to be invalid. */
export const WRONG = Symbol("wrong");

/**
 * Checks a received or outgoing context. It may come from a stranger, so every field is checked.
 *
 * @param nameOf the carrier's name of a field, for `onIgnored`.
 * @returns the valid fields. `undefined` if there is no valid parent run.
 */
export function checkRunContext(
  given: GivenFields,
  nameOf: (field: RunContextField) => string,
  report: ReportIgnored,
): RunContext | undefined {
  const id = (field: RunContextField) => readId(given[field], nameOf(field), report);
  const root_run_id = id("root_run_id");
  const parent_run_id = id("parent_run_id");
  if (root_run_id === undefined || parent_run_id === undefined) {
    // Without a parent it would be in the wrong trace, which is worse than a trace of its own.
    if (root_run_id !== undefined && isAbsent(given.parent_run_id)) {
      report(nameOf("parent_run_id"), "incomplete");
    }
    if (parent_run_id !== undefined && isAbsent(given.root_run_id)) {
      report(nameOf("root_run_id"), "incomplete");
    }
    return undefined;
  }
  const traceparent = readTraceparent(given.traceparent, nameOf("traceparent"), report);
  const tracestate =
    traceparent === undefined
      ? undefined
      : readTracestate(given.tracestate, nameOf("tracestate"), report);
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

/** Whether a field is absent. Programs also send `null` and `""` for an absent field. */
export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function readId(value: unknown, name: string, report: ReportIgnored): string | undefined {
  const text = readText(value, name, report);
  if (text === undefined) return undefined;
  // Checks the length first, because counting bytes takes time.
  if (text.length <= MOST_ID_BYTES && Buffer.byteLength(text) <= MOST_ID_BYTES) return text;
  report(name, "too_long");
  return undefined;
}

function readTraceparent(value: unknown, name: string, report: ReportIgnored): string | undefined {
  const text = readText(value, name, report);
  if (text === undefined || isTraceparent(text)) return text;
  report(name, "malformed");
  return undefined;
}

function readTracestate(value: unknown, name: string, report: ReportIgnored): string | undefined {
  const text = readText(value, name, report);
  if (text === undefined) return undefined;
  const fit = fitTracestate(text);
  if (fit === undefined) report(name, "malformed");
  return fit;
}

function readText(value: unknown, name: string, report: ReportIgnored): string | undefined {
  if (isAbsent(value) || value === WRONG) return undefined;
  if (typeof value === "string") return value;
  report(name, "malformed");
  return undefined;
}

const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]*)?$/;
/** Length of a `traceparent` of version 00. Later versions may be longer. */
const USUAL_LENGTH = 55;
const MOST_TRACEPARENT = 256;

/** The limits up to which the W3C recommendation requires a `tracestate` to be forwarded. */
const MOST_TRACESTATE = 512;
const MOST_MEMBERS = 32;
/** Longer members are removed first. */
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
 * A `tracestate` within the limits of W3C's recommendation. As it demands, complete members are removed: first those
 * of more than 128 characters, then the last ones. If a key occurs twice, the first member stays.
 *
 * @returns `undefined` if nothing is left, or a member is malformed.
 */
function fitTracestate(text: string): string | undefined {
  // A longer text is not parsed, because it may be an attack.
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

/** Without the spaces and tabs around it. W3C allows no other blanks. */
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
