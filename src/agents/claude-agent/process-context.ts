import { isRunContextSource, type RunContext, writeEnvironment } from "../../events/door.ts";
import { type Fields, fieldIn, fieldsOf, type RunRef } from "../core/door.ts";
import type { ActiveRun } from "../runtime/door.ts";

/** The run context for the SDK's process and the processes that it starts. */
export function contextOf(
  sink: unknown,
  run: RunRef | undefined,
  above: ActiveRun | undefined,
): RunContext | undefined {
  if (run !== undefined) return contextIn(sink, run.tenantId, run, undefined);
  return above === undefined
    ? undefined
    : contextIn(above.sink, above.tenantId, above, above.toolUseId);
}

function contextIn(
  sink: unknown,
  tenantId: string,
  run: Pick<RunRef, "runId" | "rootRunId" | "threadId">,
  toolUseId: string | undefined,
): RunContext {
  const known = isRunContextSource(sink)
    ? sink.runContext(tenantId, run.runId, toolUseId)
    : undefined;
  return (
    known ?? {
      root_run_id: run.rootRunId,
      parent_run_id: run.runId,
      parent_tool_use_id: toolUseId,
      thread_id: run.threadId,
    }
  );
}

/**
 * Adds the context to the option `env`, which replaces the environment of this process. Variables that the application
 * set are unchanged. Variables from this process's own parent are replaced, because they name another run.
 *
 * The environment is copied when the SDK reads the option, as the SDK copies it when the option is missing: once, since
 * reading all variables takes longer than the rest of the adapter's work at the start of a query.
 */
export function addEnvironment(options: Fields, context: RunContext): void {
  const given = fieldsOf(options.env);
  let value: unknown;
  let isSet = false;
  const set = (next: unknown) => {
    value = next;
    isSet = true;
  };
  const get = () => {
    // The options themselves stay as they are: an application's own `query` may have frozen them.
    if (!isSet) set(environmentWith(context, given));
    return value;
  };
  Object.defineProperty(options, "env", { get, set, configurable: true, enumerable: true });
}

function environmentWith(context: RunContext, given: Fields | undefined): Fields {
  const env: Record<string, unknown> = { ...(given ?? process.env) };
  for (const [name, value] of Object.entries(writeEnvironment(context))) {
    const isSet = given?.[name] !== undefined && env[name] !== fieldIn(process.env, name);
    if (isSet) continue;
    if (value === undefined) Reflect.deleteProperty(env, name);
    else env[name] = value;
  }
  return env;
}
