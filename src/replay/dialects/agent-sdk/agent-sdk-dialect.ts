import { activityOf, decodeLine, eventIn, readTenantEnvelope } from "../decode-line.ts";
import {
  type Decoded,
  type DecodeIssue,
  type Dialect,
  EVENT_RANK,
  type EventRank,
  type JsonObject,
  type LineEnvelope,
  type StreamKey,
} from "../dialect.ts";
import { AGENT_SDK_EVENTS, type AgentSdkEvent, type AgentSdkEventType } from "./events.ts";

/**
 * Order of equal times without sequences; upstream always sends sequences. `start` often begins a later turn, so it
 * does not rank as the opening of a run.
 */
const RANKS: Readonly<Record<AgentSdkEventType, EventRank>> = {
  thread_created: EVENT_RANK.runOpens,
  user_input: EVENT_RANK.runOpens,
  start: EVENT_RANK.decision,
  tool_call_start: EVENT_RANK.callOpens,
  tool_call_end: EVENT_RANK.callCloses,
  turn_complete: EVENT_RANK.callCloses,
  done: EVENT_RANK.runCloses,
  budget_exceeded: EVENT_RANK.runCloses,
  error: EVENT_RANK.runCloses,
  refusal: EVENT_RANK.runCloses,
  cancelled: EVENT_RANK.runCloses,
  thinking: EVENT_RANK.note,
  thinking_delta: EVENT_RANK.note,
  text: EVENT_RANK.note,
  text_delta: EVENT_RANK.note,
  tool_progress: EVENT_RANK.note,
  tool_requires_confirmation: EVENT_RANK.note,
  auto_retry_start: EVENT_RANK.note,
  auto_retry_end: EVENT_RANK.note,
  context_compacted: EVENT_RANK.note,
  subagent_progress: EVENT_RANK.note,
  question_asked: EVENT_RANK.note,
  account_rotation: EVENT_RANK.note,
  account_pool_exhausted: EVENT_RANK.note,
};

const READER = {
  events: AGENT_SDK_EVENTS,
  example: "start",
  rankOf: ({ type }: AgentSdkEvent) => RANKS[type],
  readEnvelope,
};

/**
 * Checks one line of agent-sdk events: upstream's flat envelope
 * `{"event_id":…,"sequence":…,"timestamp":…,"type":…,…fields}`, or the event nested as
 * `{…envelope,"event":{"type":…}}`. Reads versions 0.9 to 0.18, and passes on fields of later ones. The event in the
 * result is the given object. Never throws.
 *
 * @example
 * const decoded = decodeAgentSdk(line);
 * if (decoded.outcome === "event") mapping.translate(decoded.event, decoded.envelope);
 */
export function decodeAgentSdk(line: JsonObject): Decoded<AgentSdkEvent> {
  return decodeLine(line, READER);
}

/** A thread ID may be a field of the event or of the envelope. In a flat line it is both. */
function readEnvelope(line: JsonObject, issues: DecodeIssue[]): LineEnvelope | undefined {
  const envelope = readTenantEnvelope(line, issues);
  if (envelope === undefined) return undefined;
  const thread = envelope.thread_id ?? eventIn(line).thread_id;
  if (typeof thread === "string") envelope.thread_id = thread;
  return envelope;
}

/** Types with common names, and the field that distinguishes them from those of other logs. */
const PLAIN: ReadonlyMap<string, string> = new Map([
  ["start", "turn"],
  ["thinking", "message_id"],
  ["text", "message_id"],
  ["done", "total_turns"],
  ["error", "recoverable"],
  ["refusal", "message_id"],
  ["cancelled", "turn"],
]);

/** Lines of agent-sdk-foundation 0.9 to 0.18: one `AgentEventEnvelope` as JSON on each line. */
export const agentSdkDialect: Dialect<AgentSdkEvent> = {
  name: "agent-sdk",
  inOrder: true,

  looksLike(line: JsonObject): boolean {
    const fields = eventIn(line);
    const { type } = fields;
    if (typeof type !== "string" || !AGENT_SDK_EVENTS.variants.has(type)) return false;
    const marker = PLAIN.get(type);
    return marker === undefined || fields[marker] !== undefined || hasSequence(line);
  },

  decode: decodeAgentSdk,

  activityOf(line: JsonObject, tenant: string | undefined) {
    return activityOf(readEnvelope(line, []), tenant, streamKeyOf);
  },

  /**
   * All lines of a tenant are one stream. Most events name no thread, so only the sequence can order lines of equal
   * times.
   */
  streamKey(_event: AgentSdkEvent, envelope: LineEnvelope) {
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

/** Fields of upstream's envelope. No other source has both. */
function hasSequence(line: JsonObject): boolean {
  return line.event_id !== undefined && line.sequence !== undefined;
}
