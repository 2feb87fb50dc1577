import { checkRunContext } from "./check-run-context.ts";
import {
  type CarrierOptions,
  RUN_CONTEXT_FIELDS,
  type RunContext,
  type RunContextField,
  reporterOf,
} from "./run-context.ts";

const nameOf = (field: RunContextField) => field;

/** The run context as fields of JSON, all checked. An empty object if it is invalid. */
export function writeMessage(
  run: RunContext | undefined,
  options?: CarrierOptions,
): Partial<RunContext> {
  return checkRunContext(run ?? {}, nameOf, reporterOf(options)) ?? {};
}

/**
 * Reads the run context from fields of a message of a queue or a line of a stream. They have the names of {@link
 * RunContext}, alone or beside an event. Use it only for senders that you trust.
 *
 * @param fields any decoded JSON. Other fields are ignored.
 * @returns `undefined` without a valid parent run. It never throws, and reports ignored fields to `onIgnored`.
 */
export function readMessage(fields: unknown, options?: CarrierOptions): RunContext | undefined {
  const report = reporterOf(options);
  const given: { [K in RunContextField]?: unknown } = {};
  if (fields === undefined || fields === null) return undefined;
  try {
    if (typeof fields !== "object") throw new TypeError("no object");
    for (const field of RUN_CONTEXT_FIELDS) given[field] = Reflect.get(fields, field);
  } catch {
    report("message", "unreadable");
    return undefined;
  }
  return checkRunContext(given, nameOf, report);
}
