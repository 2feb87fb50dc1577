import { activityOf, decodeLine, eventIn, readTenantEnvelope } from "../decode-line.ts";
import {
  type Decoded,
  type Dialect,
  EVENT_RANK,
  type EventRank,
  isJsonObject,
  type JsonObject,
  type LineEnvelope,
  type StreamKey,
} from "../dialect.ts";
import { DEFECT_EVENTS, type DefectEvent, type LeafEvent } from "./events.ts";

const RANKS: Readonly<Record<LeafEvent["type"], EventRank>> = {
  user_prompt_committed: EVENT_RANK.runOpens,
  turn_started: EVENT_RANK.runOpens,
  tool_call_started: EVENT_RANK.callOpens,
  tool_call_finished: EVENT_RANK.callCloses,
  turn_ended: EVENT_RANK.runCloses,
  turn_aborted: EVENT_RANK.runCloses,
  assistant_text: EVENT_RANK.note,
  assistant_thought: EVENT_RANK.note,
  tool_call_progress: EVENT_RANK.note,
  policy_decision: EVENT_RANK.note,
  permission_resolved: EVENT_RANK.note,
  llm_call_started: EVENT_RANK.note,
  llm_call_finished: EVENT_RANK.note,
  context_compressed: EVENT_RANK.note,
  context_microcompacted: EVENT_RANK.note,
};

const READER = {
  events: DEFECT_EVENTS,
  example: "turn_started",
  rankOf: (event: DefectEvent) => RANKS[event.type === "subagent" ? event.inner.type : event.type],
  readEnvelope: readTenantEnvelope,

  unknownType({ inner }: JsonObject, type: string): string | undefined {
    if (type !== "subagent" || !isJsonObject(inner) || typeof inner.type !== "string") return;
    return DEFECT_EVENTS.variants.has(inner.type) ? undefined : `subagent/${inner.type}`;
  },
};

/**
 * Checks one line of a defect session: the flat envelope `{"timestamp":…,"session_id":…,"type":…,…fields}`, or the
 * event nested as `{…envelope,"event":{"type":…}}`. The event in the result is the given object, unless a value had to
 * be replaced. Never throws.
 *
 * An unknown event of a sub-agent has the type `subagent/<type>`.
 *
 * @example
 * const decoded = decodeDefect(line);
 * if (decoded.outcome === "event") mapping.translate(decoded.event, decoded.envelope);
 */
export function decodeDefect(line: JsonObject): Decoded<DefectEvent> {
  return decodeLine(line, READER);
}

/**
 * Lines of defect-agent 0.1: `AgentEvent`s with a time and usually a session.
 *
 * No other dialect has one of its types.
 */
export const defectDialect: Dialect<DefectEvent> = {
  name: "defect",
  inOrder: true,

  looksLike(line: JsonObject): boolean {
    const { type } = eventIn(line);
    return typeof type === "string" && DEFECT_EVENTS.variants.has(type);
  },

  decode: decodeDefect,

  activityOf(line: JsonObject, tenant: string | undefined) {
    return activityOf(readTenantEnvelope(line, []), tenant, streamKeyOf);
  },

  /**
   * All lines of a tenant are one stream. A line without a session belongs to the session that was opened last, so
   * lines of equal times must keep their order.
   */
  streamKey(_event: DefectEvent, envelope: LineEnvelope) {
    return streamKeyOf(envelope);
  },

  streamName(_event, { session_id, tenant_id = "", thread_id = tenant_id }: LineEnvelope) {
    return session_id ?? thread_id;
  },
};

function streamKeyOf({ session_id, tenant_id = "", thread_id }: LineEnvelope): StreamKey {
  const part = session_id ?? thread_id;
  return part === undefined ? { stream: tenant_id } : { stream: tenant_id, part };
}
