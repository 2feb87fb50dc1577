import type { Dialect, JsonObject, LineEnvelope } from "../dialect.ts";
import { eventIn } from "../nested-event.ts";
import { signOfLife } from "../sign-of-life.ts";
import { decodeAgentSdk, readAgentSdkEnvelope } from "./decode.ts";
import { isKnownType } from "./event-checks.ts";
import type { AgentSdkEvent } from "./events.ts";

/** Types whose names are so plain that other logs may have them too, with a field that tells. */
const PLAIN: ReadonlyMap<unknown, string> = new Map([
  ["start", "turn"],
  ["thinking", "message_id"],
  ["text", "message_id"],
  ["done", "total_turns"],
  ["error", "recoverable"],
  ["refusal", "message_id"],
  ["cancelled", "turn"],
]);

/**
 * The lines of agent-sdk-foundation, 0.9 to 0.18: its `AgentEventEnvelope`s as JSON, one a line.
 */
export const agentSdkDialect: Dialect<AgentSdkEvent> = {
  name: "agent-sdk",
  inOrder: true,

  looksLike(value: JsonObject): boolean {
    const fields = eventIn(value);
    if (!isKnownType(fields.type)) return false;
    const telling = PLAIN.get(fields.type);
    return telling === undefined || fields[telling] !== undefined || hasSequence(value);
  },

  decode: decodeAgentSdk,

  heard(value: JsonObject, tenant: string | undefined) {
    return signOfLife(readAgentSdkEnvelope(value), tenant, placeOf);
  },

  /**
   * All lines of a tenant are one stream. Most events name no thread, so where two lines have the
   * same time only their sequence can tell which comes first.
   */
  place(_event: AgentSdkEvent, envelope: LineEnvelope) {
    return placeOf(envelope);
  },
};

function placeOf({ tenant_id = "" }: LineEnvelope) {
  return { stream: tenant_id };
}

/** Upstream's envelope: no other source has both. */
function hasSequence(value: JsonObject): boolean {
  return value.event_id !== undefined && value.sequence !== undefined;
}
