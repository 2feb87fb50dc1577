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
