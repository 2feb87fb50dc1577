import { graphEventShape } from "../../audit/wire/graph-event-shape.ts";
import { type Dialect, isJsonObject, type JsonObject, type LineEnvelope } from "../dialect.ts";
import { decodeGraph } from "./decode.ts";
import type { GraphLine } from "./graph-line.ts";
import { isControlLine } from "./log-lines.ts";

/**
 * A log of GraphEvents as a source: what `NdjsonSessionLog` stores, an export of upstream's session
 * log, or bare events one a line.
 */
export const graphDialect: Dialect<GraphLine> = {
  name: "graph",
  inOrder: true,

  /** The events of all other dialects have a `type`. */
  looksLike(value: JsonObject): boolean {
    if (value.type !== undefined) return false;
    if (value.kind !== undefined) return isEntry(value);
    if (isJsonObject(value.event)) return value.event.type === undefined && isEntry(value.event);
    return isControlLine(value);
  },

  decode: decodeGraph,

  /** A stream is a thread of a tenant. */
  place(_: GraphLine, { session_id = "", tenant_id, thread_id = session_id }: LineEnvelope) {
    return { stream: tenant_id === undefined ? thread_id : `${tenant_id}\0${thread_id}` };
  },
};

function isEntry({ kind, timestamp }: JsonObject): boolean {
  return (
    typeof kind === "string" && graphEventShape.variants.has(kind) && typeof timestamp === "string"
  );
}
