import { checkRunContext } from "./check-run-context.ts";
import {
  type CarrierOptions,
  RUN_CONTEXT_FIELDS,
  type RunContext,
  type RunContextField,
  tellerOf,
} from "./run-context.ts";

const nameOf = (field: RunContextField) => field;

/** The run context as fields of JSON, each one checked: an empty object where it can't be used. */
export function writeMessage(
  run: RunContext | undefined,
  options?: CarrierOptions,
): Partial<RunContext> {
  return checkRunContext(run ?? {}, nameOf, tellerOf(options)) ?? {};
}

/**
 * What a message of a queue, or a line of a stream, carries in fields of these names: in a
 * {@link RunContext} as JSON, or beside an event. Use it only for senders that you trust.
 *
 * @param fields any decoded JSON; other fields are not looked at.
 * @returns `undefined` where no parent run is named, or not so that it can be used. It never throws;
 *   what is ignored is told to `onIgnored`.
 */
export function readMessage(fields: unknown, options?: CarrierOptions): RunContext | undefined {
  const tell = tellerOf(options);
  const given: { [K in RunContextField]?: unknown } = {};
  if (fields === undefined || fields === null) return undefined;
  try {
    if (typeof fields !== "object") throw new TypeError("no object");
    for (const field of RUN_CONTEXT_FIELDS) given[field] = Reflect.get(fields, field);
  } catch {
    tell("message", "unreadable");
    return undefined;
  }
  return checkRunContext(given, nameOf, tell);
}
