import { SpanKind } from "@opentelemetry/api";
import type { Instant, KnownAttributes, ModelEnd, ModelOpening } from "../../events/door.ts";
import type { ModelCall, Run } from "../lifecycle/door.ts";
import type { SpanEnds } from "./span-ends.ts";
import { parentIn, type SpanHandle } from "./span-handle.ts";
import type { SpanPort } from "./span-port.ts";

/** The spans of model calls. */
export class ModelSpans {
  readonly #port: SpanPort;
  readonly #ends: SpanEnds;

  constructor(port: SpanPort, ends: SpanEnds) {
    this.#port = port;
    this.#ends = ends;
  }

  /** @param step the parent. Default: the run. */
  open(
    run: Run<SpanHandle>,
    call: ModelCall<SpanHandle>,
    at: Instant,
    { content, context, attributes: further }: ModelOpening,
    step: SpanHandle | undefined,
  ): SpanHandle | undefined {
    const parent = parentIn(run, step);
    if (parent === undefined) return undefined;
    const attributes: KnownAttributes = {
      "gen_ai.operation.name": call.operation,
      "gen_ai.request.model": call.model,
      "entelix.run_id": run.runId,
      "entelix.tenant_id": run.tenantId,
    };
    if (call.id !== "") attributes["entelix.model.call_id"] = call.id;
    const { model, operation } = call;
    const name = model === undefined ? operation : `${operation} ${model}`;
    const id = run.ids.childSpanId("m", String(call.ordinal));
    const { traceId } = run;
    const kind = SpanKind.CLIENT;
    const handle = this.#port.start(name, attributes, at, parent, traceId, id, undefined, kind);
    if (handle.recording) {
      try {
        if (further !== undefined) this.#ends.setFurther(handle, further);
        this.#ends.describeRequest(handle, run, call, content, context);
      } catch (error) {
        this.#port.contain(error);
      }
    }
    return handle;
  }

  close(run: Run<SpanHandle>, call: ModelCall<SpanHandle>, at: Instant, end: ModelEnd): void {
    const { handle } = call;
    if (handle === undefined) return;
    if (handle.recording) {
      // Errors of malformed values are caught, too, so that the span always ends.
      try {
        this.#ends.describeModelCall(handle, run, call, end, at);
      } catch (error) {
        this.#port.contain(error);
      }
    }
    this.#port.end(handle, at);
  }
}
