import { type RunContext, readMessage, writeMessage } from "../../events/door.ts";
import { fieldsOf } from "../core/narrow.ts";
import type { Request } from "./json-rpc.ts";

/**
 * The key of `_meta` that holds the run: an object with the fields of a `RunContext` of
 * `entelix-otel/context` but for the trace, which has keys of its own.
 *
 * The prefix is this package's name, as the protocol's grammar of keys asks for. `traceparent` and
 * `tracestate` have no prefix: SEP-414 reserves them.
 */
export const RUN_META_KEY = "entelix-otel/run";

/** How much of a run's context requests carry. */
export type Propagate = "run" | "trace" | "none";

/** Requests that belong to the connection, and not to the code that happens to open it. */
const OF_CONNECTION = new Set(["initialize", "ping", "server/discover"]);

/**
 * The message of a request with the run's context in `_meta`: a copy. What the caller has put there
 * stays: it may come from another instrumentation.
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
  // A state belongs to its own trace alone.
  if (traceparent !== undefined && given?.traceparent === undefined) {
    meta.traceparent = traceparent;
    if (tracestate !== undefined) meta.tracestate = tracestate;
  }
  if (propagate === "run" && run.parent_run_id !== undefined) meta[RUN_META_KEY] = run;
  const params = { ...request.params, _meta: { ...meta, ...given } };
  return { ...fieldsOf(message), params };
}

/** What the `_meta` of a trusted caller's request says. Each field is checked. */
export interface CallerContext extends Partial<Omit<RunContext, "traceparent" | "tracestate">> {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** The context in `_meta`: of a run, or of the trace alone, as other instrumentations write it. */
export function contextIn(meta: unknown): CallerContext {
  const fields = fieldsOf(meta);
  if (fields === undefined) return {};
  const { traceparent, tracestate } = fields;
  const trace = { traceparent, tracestate };
  const run = readMessage({ ...fieldsOf(fields[RUN_META_KEY]), ...trace });
  if (run !== undefined) return run;
  // The check of a run context takes a trace only beside a run.
  const checked = readMessage({ ...trace, root_run_id: "-", parent_run_id: "-" });
  return { traceparent: checked?.traceparent, tracestate: checked?.tracestate };
}
