import { activityOf, eventIn } from "../decode-line.ts";
import type { Dialect, JsonObject, LineEnvelope } from "../dialect.ts";
import { decodeDefect, readDefectEnvelope } from "./decode.ts";
import { DEFECT_EVENT_TYPES, type DefectEvent } from "./defect-event.ts";

const TYPES: ReadonlySet<unknown> = new Set(DEFECT_EVENT_TYPES);

/**
 * The lines of defect-agent 0.1: its `AgentEvent`s, each with a time and mostly a session.
 *
 * None of its types is one of entelix, agent-sdk-foundation or a GraphEvent log.
 */
export const defectDialect: Dialect<DefectEvent> = {
  name: "defect",
  inOrder: true,

  looksLike(value: JsonObject): boolean {
    return TYPES.has(eventIn(value).type);
  },

  decode: decodeDefect,

  heard(value: JsonObject, tenant: string | undefined) {
    return activityOf(readDefectEnvelope(value), tenant, placeOf);
  },

  /**
   * All lines of a tenant are one stream. A line may name no session, and is then of the one that was
   * opened last: where two lines have the same time, that must not come after it.
   */
  place(_event: DefectEvent, envelope: LineEnvelope) {
    return placeOf(envelope);
  },
};

function placeOf({ tenant_id = "" }: LineEnvelope) {
  return { stream: tenant_id };
}
