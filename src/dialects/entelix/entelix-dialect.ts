import { AGENT_EVENT_TYPES, type AgentEvent } from "../../events/agent-event.ts";
import { MODEL_EVENT_TYPES } from "../../events/model-event.ts";
import { eventIn } from "../decode-line.ts";
import type { Dialect, JsonObject } from "../dialect.ts";
import { readLineEnvelope } from "../line-envelope.ts";
import { decodeEntelix } from "./decode.ts";

const TYPES: ReadonlySet<unknown> = new Set([...AGENT_EVENT_TYPES, ...MODEL_EVENT_TYPES]);

/**
 * The lines of entelix agents, 0.6.x and 0.5.x: the {@link AgentEvent}s of this package, which is
 * also what a `RecorderSink` writes.
 */
export const entelixDialect: Dialect<AgentEvent> = {
  name: "entelix",

  looksLike(value: JsonObject): boolean {
    return TYPES.has(eventIn(value).type);
  },

  decode: decodeEntelix,

  heard(value: JsonObject) {
    const run = runOfLine(value);
    const envelope = run && readLineEnvelope(value, []);
    return run && envelope && { envelope, place: { stream: `${run.tenant_id}\0${run.run_id}` } };
  },

  /** A stream is a run of a tenant: sequences restart with each run. */
  place(event: AgentEvent) {
    const stream = `${event.tenant_id}\0${event.run_id}`;
    const parent = event.type === "started" ? event.parent_run_id : undefined;
    return parent ? { stream, parent: `${event.tenant_id}\0${parent}` } : { stream };
  },
};

/** The run that a line is of, whatever its type. */
export function runOfLine(
  value: JsonObject,
): { readonly tenant_id: string; readonly run_id: string } | undefined {
  const { run_id, tenant_id } = eventIn(value);
  if (typeof tenant_id !== "string" || typeof run_id !== "string") return undefined;
  return tenant_id === "" || run_id === "" ? undefined : { tenant_id, run_id };
}
