import type { CarriedContext } from "./carried-context.ts";

/** The parent of a run in another process, as `runAgent({ parent })` takes it. */
export interface RunParent {
  /** The run that started this one. */
  readonly parentRunId: string;
  /** The run at the top of the tree. */
  readonly rootRunId: string;
  /** The tool call of the parent run in which it did. */
  readonly toolUseId?: string | undefined;
  /** W3C trace context of that call. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** The conversation, which the run goes on with unless it is told another. */
  readonly threadId?: string | undefined;
}

/**
 * What was carried here, as the parent of a run of `entelix-otel/runtime`.
 *
 * @returns `undefined` for `undefined`: the run is then a root.
 *
 * @example
 * await runAgent({ sink, agent: "expert", tenant, parent: toRunParent(fromEnvironment(process.env)) }, work);
 */
export function toRunParent(carried: CarriedContext): RunParent;
export function toRunParent(carried: CarriedContext | undefined): RunParent | undefined;
export function toRunParent(carried: CarriedContext | undefined): RunParent | undefined {
  if (carried === undefined) return undefined;
  const { traceparent, tracestate, parent_tool_use_id, thread_id } = carried;
  return {
    parentRunId: carried.parent_run_id,
    rootRunId: carried.root_run_id,
    ...(parent_tool_use_id === undefined ? {} : { toolUseId: parent_tool_use_id }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(tracestate === undefined ? {} : { tracestate }),
    ...(thread_id === undefined ? {} : { threadId: thread_id }),
  };
}
