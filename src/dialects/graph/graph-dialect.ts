import { graphEventForm } from "../../audit/wire/graph-event-form.ts";
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

  /**
   * A stream is a thread of a tenant. The log of a sub-agent that had no thread of its own is named after
   * its place, `{log above}/{call}`.
   */
  place(_: GraphLine, { session_id = "", tenant_id, thread_id = session_id }: LineEnvelope) {
    const streamOf = (thread: string) =>
      tenant_id === undefined ? thread : `${tenant_id}\0${thread}`;
    const stream = streamOf(thread_id);
    const end = thread_id.lastIndexOf("/");
    return end < 1 ? { stream } : { stream, parent: streamOf(thread_id.slice(0, end)) };
  },
};

function isEntry({ kind, timestamp }: JsonObject): boolean {
  return (
    typeof kind === "string" && graphEventForm.variants.has(kind) && typeof timestamp === "string"
  );
}
