/** Where code runs: in a run, or in a tool call or a model call of it. Fields as in the events. */
export interface InsidePlace {
  readonly tenant_id: string;
  readonly run_id: string;
  readonly tool_use_id?: string | undefined;
  readonly model_call_id?: string | undefined;
}

/** A sink that can run code inside the span of a run or call; `Bridge` and `Bridge` are. */
export interface ContextCarrier {
  /**
   * Calls `work` with the open span of that place active, so that spans made in it become its
   * children. Where it is not open, `work` is called all the same.
   *
   * @returns what `work` returns.
   */
  inside<T>(place: InsidePlace, work: () => T): T;
}

/** Whether a sink can run code inside spans. */
export function isContextCarrier(sink: unknown): sink is ContextCarrier {
  return (
    typeof sink === "object" &&
    sink !== null &&
    "inside" in sink &&
    typeof sink.inside === "function"
  );
}

/** Calls `work` inside that place of the sink, where the sink can: what sinks that wrap others do. */
export function insideOf<T>(sink: unknown, place: InsidePlace, work: () => T): T {
  return isContextCarrier(sink) ? sink.inside(place, work) : work();
}
