import type { TellIgnored } from "./ignored-field.ts";
import { MOST_ID_BYTES, type RunContext, type RunContextField } from "./run-context.ts";
import { fitTracestate, isTraceparent } from "./trace-headers.ts";

/** The fields as somebody gave them. */
export type GivenFields = { readonly [K in RunContextField]?: unknown };

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
