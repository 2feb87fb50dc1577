import type { AgentEvent, AgentEventType } from "../../../events/door.ts";
import { decodeLine, eventIn, type LineReader } from "../decode-line.ts";
import {
  type Decoded,
  type Dialect,
  EVENT_RANK,
  type EventRank,
  type JsonObject,
} from "../dialect.ts";
import { readLineEnvelope } from "../line-envelope.ts";
import { ENTELIX_EVENTS } from "./events.ts";

const RANKS: Readonly<Record<AgentEventType, EventRank>> = {
  started: EVENT_RANK.runOpens,
  tool_call_asked: EVENT_RANK.decision,
  tool_call_approved: EVENT_RANK.decision,
  tool_call_denied: EVENT_RANK.decision,
  tool_start: EVENT_RANK.callOpens,
  model_start: EVENT_RANK.callOpens,
  step_start: EVENT_RANK.callOpens,
  tool_complete: EVENT_RANK.callCloses,
  tool_error: EVENT_RANK.callCloses,
  model_complete: EVENT_RANK.callCloses,
  model_error: EVENT_RANK.callCloses,
  step_complete: EVENT_RANK.callCloses,
  step_error: EVENT_RANK.callCloses,
  complete: EVENT_RANK.runCloses,
  failed: EVENT_RANK.runCloses,
  interrupted: EVENT_RANK.runCloses,
};

const READER: LineReader<AgentEvent> = {
  events: ENTELIX_EVENTS,
  example: "started",
  rankOf: ({ type }) => RANKS[type],
  readEnvelope: readLineEnvelope,
};

/**
 * Checks one line of entelix events: the flat envelope `{"timestamp":…,"type":…,…fields}` of either crate version
 * (0.6.x, and 0.5.x without `kind` and `interrupted`), or the event nested as `{…envelope,"event":{"type":…}}`. The
 * event in the result is the given object, unless a value had to be replaced. Never throws.
 *
 * @example
 * const decoded = decodeEntelix(line);
 * if (decoded.outcome === "event") sink.send(decoded.event, decoded.envelope);
 */
export function decodeEntelix(line: JsonObject): Decoded<AgentEvent> {
  return decodeLine(line, READER);
}
/**
 * Lines of entelix agents, 0.6.x and 0.5.x: the {@link AgentEvent}s of this package, as a `RecorderSink` writes them.
 */
export const entelixDialect: Dialect<AgentEvent> = {
  name: "entelix",

  looksLike(value: JsonObject): boolean {
    const { type } = eventIn(value);
    return typeof type === "string" && ENTELIX_EVENTS.variants.has(type);
  },

  decode: decodeEntelix,

  activityOf(value: JsonObject) {
    const run = runOfLine(value);
    const envelope = run && readLineEnvelope(value, []);
    return (
      run && envelope && { envelope, streamKey: { stream: `${run.tenant_id}\0${run.run_id}` } }
    );
  },

  /** A stream is a run of a tenant: sequences restart with each run. */
  streamKey(event: AgentEvent) {
    const stream = `${event.tenant_id}\0${event.run_id}`;
    const parent = event.type === "started" ? event.parent_run_id : undefined;
    return parent ? { stream, parent: `${event.tenant_id}\0${parent}` } : { stream };
  },

  streamName: (event: AgentEvent) => event.run_id,
};

/** The run of a line of any type. */
export function runOfLine(
  value: JsonObject,
): { readonly tenant_id: string; readonly run_id: string } | undefined {
  const { run_id, tenant_id } = eventIn(value);
  if (typeof tenant_id !== "string" || typeof run_id !== "string") return undefined;
  return tenant_id === "" || run_id === "" ? undefined : { tenant_id, run_id };
}
