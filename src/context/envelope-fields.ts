import type { EventEnvelope } from "../events/event-envelope.ts";
import { CARRIED_FIELDS, type CarriedContext, type CarriedField } from "./carried-context.ts";
import { checkCarried } from "./check-carried.ts";
import { type CarryOptions, tellerOf } from "./ignored-field.ts";

const nameOf = (field: CarriedField) => field;

/** What of an envelope says where a run belongs; `parent_run_id` is a field of the event itself. */
export type CarriedEnvelope = Pick<
  EventEnvelope,
  "traceparent" | "tracestate" | "root_run_id" | "parent_tool_use_id" | "thread_id"
>;

/**
 * What is carried, as fields for the envelope of the `started` event of the child's run.
 *
 * @returns an empty object for `undefined`, and for what can't be used. It never throws.
 *
 * @example
 * const carried = fromEnvironment(process.env);
 * const parent_run_id = carried?.parent_run_id ?? null;
 * sink.send({ type: "started", run_id, tenant_id, agent, parent_run_id }, toEnvelope(carried));
 */
export function toEnvelope(
  carried: CarriedContext | undefined,
  options?: CarryOptions,
): CarriedEnvelope {
  const checked = checkCarried(carried ?? {}, nameOf, tellerOf(options));
  if (checked === undefined) return {};
  const { traceparent, tracestate, root_run_id, parent_tool_use_id, thread_id } = checked;
  return {
    root_run_id,
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(tracestate === undefined ? {} : { tracestate }),
    ...(parent_tool_use_id === undefined ? {} : { parent_tool_use_id }),
    ...(thread_id === undefined ? {} : { thread_id }),
  };
}

/**
 * What a message of a queue, or a line of a stream, carries in fields of these names: in a
 * {@link CarriedContext} as JSON, or beside an event. Use it only for senders that you trust.
 *
 * @param fields any decoded JSON; other fields are not looked at.
 * @returns `undefined` where no parent run is named, or not so that it can be used. It never throws;
 *   what is ignored is told to `onIgnored`.
 */
export function fromEnvelope(fields: unknown, options?: CarryOptions): CarriedContext | undefined {
  const tell = tellerOf(options);
  const given: { [K in CarriedField]?: unknown } = {};
  if (fields === undefined || fields === null) return undefined;
  try {
    if (typeof fields !== "object") throw new TypeError("no object");
    for (const field of CARRIED_FIELDS) given[field] = Reflect.get(fields, field);
  } catch {
    tell("envelope", "unreadable");
    return undefined;
  }
  return checkCarried(given, nameOf, tell);
}
