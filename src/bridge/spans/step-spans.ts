import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { type Instant, type KnownAttributes, type StepEnd, textIn } from "../../events/door.ts";
import type { Run, Step } from "../lifecycle/door.ts";
import type { ContentPolicy } from "./content.ts";
import { setEnvelope } from "./end-attributes.ts";
import type { ExceptionEvents } from "./exception-events.ts";
import { nameIn, UNKNOWN_ERROR } from "./span-ends.ts";
import { parentIn, type SpanHandle } from "./span-handle.ts";
import type { SpanPort } from "./span-port.ts";
import type { SpanSubject } from "./subject.ts";

/** The spans of steps. */
export class StepSpans {
  readonly #port: SpanPort;
  readonly #content: ContentPolicy;
  readonly #subject: SpanSubject;
  readonly #exceptions: ExceptionEvents;

  constructor(
    port: SpanPort,
    content: ContentPolicy,
    subject: SpanSubject,
    exceptions: ExceptionEvents,
  ) {
    this.#port = port;
    this.#content = content;
    this.#subject = subject;
    this.#exceptions = exceptions;
  }

  /** @param around the parent: another step, or a call. Default: the run. */
  open(
    run: Run<SpanHandle>,
    step: Step<SpanHandle>,
    at: Instant,
    content: unknown,
    around: SpanHandle | undefined,
  ): SpanHandle | undefined {
    const parent = parentIn(run, around);
    if (parent === undefined) return undefined;
    const { runId, tenantId, traceId } = run;
    const attributes: KnownAttributes = {
      "entelix.step.name": nameIn(step.name),
      "entelix.run_id": runId,
      "entelix.tenant_id": tenantId,
    };
    const retrieves = step.kind === "retrieval";
    if (retrieves) {
      attributes["gen_ai.operation.name"] = "retrieval";
      if (this.#content.captures && content !== undefined && content !== null) {
        const field = "gen_ai.retrieval.query.text";
        attributes[field] = this.#content.value(content, { attribute: field, tenantId, runId });
      }
    }
    // The conventions use the ID of the data source in the name. The retriever's name replaces it.
    const name = step.name === "" ? step.kind : `${step.kind} ${step.name}`;
    const id = run.ids.childSpanId("p", String(step.ordinal));
    const kind = retrieves ? SpanKind.CLIENT : SpanKind.INTERNAL;
    return this.#port.start(name, attributes, at, parent, traceId, id, undefined, kind);
  }

  close(run: Run<SpanHandle>, step: Step<SpanHandle>, at: Instant, end: StepEnd): void {
    const { handle } = step;
    if (handle === undefined) return;
    if (handle.recording) {
      // Errors of malformed values are caught, too, so that the span always ends.
      try {
        this.#describe(handle, run, step, end, at);
      } catch (error) {
        this.#port.contain(error);
      }
    }
    this.#port.end(handle, at);
  }

  #describe(
    handle: SpanHandle,
    run: Run<SpanHandle>,
    step: Step<SpanHandle>,
    end: StepEnd,
    at: Instant,
  ): void {
    handle.set("gen_ai.agent.name", nameIn(run.agent));
    this.#subject.setOnStep(handle, run);
    handle.set("entelix.step.outcome", end.outcome);
    switch (end.outcome) {
      case "unfinished":
        break;
      case "complete":
        if (this.#content.captures && step.kind === "retrieval" && end.content !== null) {
          const { runId, tenantId } = run;
          const field = "gen_ai.retrieval.documents";
          const where = { attribute: field, tenantId, runId };
          handle.set(field, this.#content.value(end.content, where, handle));
        }
        break;
      case "interrupted":
        if (end.message !== undefined) this.#setMessage(handle, run, end.message);
        break;
      case "cancelled":
        setEnvelope(handle, end.envelope);
        this.#setMessage(handle, run, end.message);
        break;
      case "error": {
        // A step has no failure kind. If the run fails because of it, the run's end has the kind.
        handle.set("error.type", textIn(end.envelope.wire_code) || UNKNOWN_ERROR);
        setEnvelope(handle, end.envelope);
        const { runId, tenantId } = run;
        this.#exceptions.add(handle, at, end.exception, { runId, tenantId });
        const message = this.#errorText(run, end.message, "status");
        const code = SpanStatusCode.ERROR;
        handle.span.setStatus(message === "" ? { code } : { code, message });
        break;
      }
      default:
        end satisfies never;
    }
    if (end.attributes !== undefined) handle.setAttributes(end.attributes);
  }

  #setMessage(handle: SpanHandle, run: Run<SpanHandle>, text: string): void {
    const attribute = "entelix.error.message";
    handle.set(attribute, this.#errorText(run, text, attribute));
  }

  #errorText({ runId, tenantId }: Run<SpanHandle>, text: string, attribute: string): string {
    return text === "" ? "" : this.#content.errorText(text, { attribute, tenantId, runId });
  }
}
