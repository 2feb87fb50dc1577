import { type RunContext, readMessage, writeMessage } from "../../events/door.ts";
import { fieldsOf } from "../core/door.ts";
import type { Request } from "./json-rpc.ts";

/**
 * The key of `_meta` that holds the run: an object with the fields of a `RunContext` of `entelix-otel/context`,
 * except the trace, which has its own keys.
 *
 * The protocol's grammar of keys requires a prefix: the name of this package. `traceparent` and `tracestate` have
 * none, because SEP-414 reserves them.
 */
export const RUN_META_KEY = "entelix-otel/run";

/** How much context of a run requests carry. */
export type Propagate = "run" | "trace" | "none";

/** Requests that belong to the connection, not to a run. */
const OF_CONNECTION = new Set(["initialize", "ping", "server/discover"]);

/**
 * Copies a request and adds the run's context to `_meta`. Keys that the caller set are unchanged, because they may
 * come from another instrumentation.
 */
export function withContext(
  message: unknown,
  request: Request,
  context: RunContext | undefined,
  propagate: Propagate,
): unknown {
  if (context === undefined || propagate === "none" || OF_CONNECTION.has(request.method)) {
    return message;
  }
  const { traceparent, tracestate, ...run } = writeMessage(context);
  const given = fieldsOf(request.params?._meta);
  const meta: Record<string, unknown> = {};
  // `tracestate` belongs to its own `traceparent`.
  if (traceparent !== undefined && given?.traceparent === undefined) {
    meta.traceparent = traceparent;
    if (tracestate !== undefined) meta.tracestate = tracestate;
  }
  if (propagate === "run" && run.parent_run_id !== undefined) meta[RUN_META_KEY] = run;
  const params = { ...request.params, _meta: { ...meta, ...given } };
  return { ...fieldsOf(message), params };
}

/** Checked context from the `_meta` of a trusted caller. */
export interface CallerContext extends Partial<Omit<RunContext, "traceparent" | "tracestate">> {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** Reads the context in `_meta`: that of a run, or only a trace from another instrumentation. */
export function contextIn(meta: unknown): CallerContext {
  const fields = fieldsOf(meta);
  if (fields === undefined) return {};
  const { traceparent, tracestate } = fields;
  const trace = { traceparent, tracestate };
  const run = readMessage({ ...fieldsOf(fields[RUN_META_KEY]), ...trace });
  if (run !== undefined) return run;
  // `readMessage` accepts a trace only together with a run.
  const checked = readMessage({ ...trace, root_run_id: "-", parent_run_id: "-" });
  return { traceparent: checked?.traceparent, tracestate: checked?.tracestate };
}
