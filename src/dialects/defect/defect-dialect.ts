import type { Dialect, JsonObject, LineEnvelope } from "../dialect.ts";
import { signOfLife } from "../sign-of-life.ts";
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
    return TYPES.has(value.type);
  },

  decode: decodeDefect,

  heard(value: JsonObject, tenant: string | undefined) {
    return signOfLife(readDefectEnvelope(value), tenant, placeOf);
  },

  /** A stream is a session: what its sub-agents say stands in its order too. */
  place(_event: DefectEvent, envelope: LineEnvelope) {
    return placeOf(envelope);
  },
};

function placeOf({ session_id, tenant_id, thread_id = "" }: LineEnvelope) {
  const session = session_id ?? thread_id;
  return { stream: tenant_id === undefined ? session : `${tenant_id}\0${session}` };
}
