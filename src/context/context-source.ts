import type { CarriedContext } from "./carried-context.ts";

/** A sink that knows where the runs stand whose events it was sent; `Bridge` and `Bridge` are. */
export interface ContextSource {
  /**
   * What a child agent elsewhere has to know of a run, or of a tool call of it.
   *
   * @param toolUseId of several calls with this id the newest counts.
   * @returns `undefined` where the run is not known.
   */
  carry(tenantId: string, runId: string, toolUseId?: string): CarriedContext | undefined;
}

/** Whether a sink can say what is to be carried. */
export function isContextSource(sink: unknown): sink is ContextSource {
  return (
    typeof sink === "object" && sink !== null && "carry" in sink && typeof sink.carry === "function"
  );
}
