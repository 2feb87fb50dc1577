import type { RunContext } from "./run-context.ts";

/** A sink that knows where the runs stand whose events it was sent; `Bridge` and `Bridge` are. */
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
