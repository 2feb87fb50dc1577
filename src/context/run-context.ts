import { callHook } from "../errors/call-hook.ts";

/**
 * What a child agent in another process, or in another language, has to know of the run that starts
 * it: enough for its run to stand in the same trace, below the tool call that asked for it.
 *
 * A tenant is not among it: whose events they are is for the receiver to say.
 */
export interface RunContext {
  /**
   * W3C trace context of the tool call, or of the run. Absent where nobody here makes spans; the run
   * ids then say where the child belongs.
   */
  readonly traceparent?: string | undefined;
  /** Only with a `traceparent`. */
  readonly tracestate?: string | undefined;
  /** The run at the top of the tree. */
  readonly root_run_id: string;
  /** The run that starts the child. */
  readonly parent_run_id: string;
  /** The tool call of that run in which it does. */
  readonly parent_tool_use_id?: string | undefined;
  /** The conversation. */
  readonly thread_id?: string | undefined;
}

/** A field of a {@link RunContext}. */
export type RunContextField = keyof RunContext;

/** Every field, in the order in which they are written. */
export const RUN_CONTEXT_FIELDS = [
  "traceparent",
  "tracestate",
  "root_run_id",
  "parent_run_id",
  "parent_tool_use_id",
  "thread_id",
] as const satisfies readonly RunContextField[];

/** Most bytes that an id may have, in UTF-8: four of them fit into the header of any server. */
export const MOST_ID_BYTES = 512;

/** The header of each field; HTTP does not tell upper from lower case. */
export const RUN_CONTEXT_HEADERS = {
  traceparent: "traceparent",
  tracestate: "tracestate",
  root_run_id: "entelix-root-run-id",
  parent_run_id: "entelix-parent-run-id",
  parent_tool_use_id: "entelix-parent-tool-use-id",
  thread_id: "entelix-thread-id",
} as const satisfies Record<RunContextField, string>;

/** A sink that knows where the runs stand whose events it was sent, as a `Bridge` does. */
export interface RunContextSource {
  /**
   * What a child agent elsewhere has to know of a run, or of a tool call of it.
   *
   * @param toolUseId of several calls with this id the newest counts.
   * @returns `undefined` where the run is not known.
   */
  runContext(tenantId: string, runId: string, toolUseId?: string): RunContext | undefined;
}

/** Whether a sink can say what is to be carried. */
export function isRunContextSource(sink: unknown): sink is RunContextSource {
  return (
    typeof sink === "object" &&
    sink !== null &&
    "runContext" in sink &&
    typeof sink.runContext === "function"
  );
}

/**
 * Why a field was not taken over.
 *
 * - `malformed`: it has not the form that it should have
 * - `too_long`: it is longer than its bound
 * - `repeated`: it is there several times, and differs
 * - `incomplete`: it is missing, and without it the others are of no use
 * - `unreadable`: the carrier itself could not be read
 */
export type IgnoredReason = "malformed" | "too_long" | "repeated" | "incomplete" | "unreadable";

/** Who is told of what a carrier had and was not taken over. */
export interface CarrierOptions {
  /**
   * Told of each field that was not taken over: by its name in the carrier, and never with its value,
   * which may be an attacker's. What it throws, or rejects with, is dropped. Default: nobody.
   */
  readonly onIgnored?: ((field: string, reason: IgnoredReason) => void) | undefined;
}

/** Tells of a field; nothing comes back. */
export type TellIgnored = (field: string, reason: IgnoredReason) => void;

/** What the options say, as a function that never throws. */
export function tellerOf(options: CarrierOptions | undefined): TellIgnored {
  return (field, reason) => {
    callHook(() => options?.onIgnored?.(field, reason));
  };
}
