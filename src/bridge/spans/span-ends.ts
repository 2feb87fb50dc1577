import { type AttributeValue, SpanStatusCode } from "@opentelemetry/api";
import {
  type AttributeName,
  type CallEnd,
  type ContentField,
  degradedTools,
  type ExceptionDetails,
  type FailureKindId,
  hasEarlierNames,
  type Instant,
  loopOf,
  type ModelContext,
  type ModelEnd,
  type RunEnd,
  type SpanAttributes,
  type SpanAttributeValue,
  textIn,
} from "../../events/door.ts";
import type { Call, ModelCall, Run } from "../lifecycle/door.ts";
import { callFingerprint, runFingerprint } from "../metrics/fingerprint.ts";
import type { ContentPolicy } from "./content.ts";
import type { DecisionAttributes } from "./decision-attributes.ts";
import {
  setBreach,
  setEnvelope,
  setInterruption,
  setOwnUsage,
  setUsage,
} from "./end-attributes.ts";
import type { ExceptionEvents } from "./exception-events.ts";
import type { SpanHandle } from "./span-handle.ts";
import type { SpanSubject } from "./subject.ts";

/** The conventions' value for an error of unknown class. */
export const UNKNOWN_ERROR = "_OTHER";

/** Restricts attribute names to the declared ones. */
interface OwnAttributes {
  setAttribute(name: AttributeName, value: AttributeValue): unknown;
}

/** The failure of a span with status ERROR. */
interface SpanFailure {
  readonly text: string;
  readonly exception: ExceptionDetails | undefined;
  readonly at: Instant;
}

interface SpanEndsOptions {
  readonly content: ContentPolicy;
  readonly subject: SpanSubject;
  /** Failure kinds that leave the status Unset. */
  readonly benign: ReadonlySet<FailureKindId>;
  readonly decisions: DecisionAttributes;
  readonly exceptions: ExceptionEvents;
}

/** A name; `undefined` if it is empty. */
export function nameIn(name: string | undefined): string | undefined {
  return name === "" ? undefined : name;
}

/**
 * Sets the end of a run or call on its span: outcome, error, usage, status.
 *
 * It sets single attributes, since an object for a few of them costs more than the calls.
 */
export class SpanEnds {
  readonly #content: ContentPolicy;
  readonly #benign: ReadonlySet<FailureKindId>;
  readonly #decisions: DecisionAttributes;
  readonly #exceptions: ExceptionEvents;
  readonly #subject: SpanSubject;
  readonly #earlierNames = hasEarlierNames();

  constructor({ benign, content, decisions, exceptions, subject }: SpanEndsOptions) {
    this.#content = content;
    this.#benign = benign;
    this.#decisions = decisions;
    this.#exceptions = exceptions;
    this.#subject = subject;
  }

  /**
   * Sets further attributes of the source. Tokens written to the cache always get both of their names, since two
   * backends read only the earlier one.
   */
  setFurther(handle: SpanHandle, attributes: SpanAttributes): void {
    handle.setAttributes(attributes);
    const written = attributes["gen_ai.usage.cache_write.input_tokens"];
    if (typeof written === "number") {
      handle.set("gen_ai.usage.cache_creation.input_tokens", written);
    }
    if (!this.#earlierNames) return;
    const provider = attributes["gen_ai.provider.name"];
    if (typeof provider === "string") handle.set("gen_ai.system", provider);
  }

  /** Sets the input of a run. */
  describeQuestion(handle: SpanHandle, run: Run<SpanHandle>, asked: unknown): void {
    if (!this.#content.captures) return;
    const field = "gen_ai.input.messages";
    handle.set(field, this.#content.input(asked, fieldOf(field, run), handle));
  }

  /** Sets the input, system instructions and tool definitions of a model call. */
  describeRequest(
    handle: SpanHandle,
    run: Run<SpanHandle>,
    call: ModelCall<SpanHandle>,
    asked: unknown,
    context: ModelContext | undefined,
  ): void {
    if (!this.#content.captures) return;
    if (asked !== undefined) {
      const field = "gen_ai.input.messages";
      const of = fieldOf(field, run);
      const { earlier, text } = this.#content.request(asked, of, handle, run, call);
      handle.set(field, text);
      handle.set("entelix.content.earlier_messages", earlier);
    }
    if (context === undefined) return;
    const system = "gen_ai.system_instructions";
    const { instructions } = context;
    handle.set(system, this.#content.instructions(instructions, fieldOf(system, run), handle));
    const tools = "gen_ai.tool.definitions";
    handle.set(tools, this.#content.tools(context.tools, fieldOf(tools, run), handle));
  }

  /** @param at end of the span, also in the methods below. */
  describeRun(handle: SpanHandle, run: Run<SpanHandle>, end: RunEnd, at: Instant): void {
    handle.set("entelix.run.outcome", end.outcome);
    if (run.toolCalls > 0) handle.set("entelix.run.tool_calls", run.toolCalls);
    if (run.toolErrors > 0) handle.set("entelix.run.tool_errors", run.toolErrors);
    if (run.approvedCalls > 0) handle.set("entelix.run.approved_calls", run.approvedCalls);
    if (run.deniedCalls > 0) handle.set("entelix.run.denied_calls", run.deniedCalls);
    if (run.used !== undefined) setOwnUsage(handle, run.used);
    const loop = loopOf(run.callTrail);
    if (loop !== undefined) {
      handle.set("entelix.run.loop", loop.kind);
      handle.set("entelix.run.loop.count", loop.count);
      handle.set("entelix.run.loop.tools", [...loop.tools]);
    }
    if (end.usage !== undefined) setUsage(handle, end.usage, run.root);
    switch (end.outcome) {
      case "complete": {
        const degraded = degradedTools(run);
        if (degraded.length > 0) handle.set("entelix.run.degraded", [...degraded]);
        if (this.#content.captures) {
          const field = "entelix.run.state";
          handle.set(field, this.#value(handle, end.content, field, run));
        }
        break;
      }
      case "failed": {
        handle.set("entelix.failure.kind", end.kind.type);
        handle.set("entelix.failure.fingerprint", runFingerprint(run, end));
        if (end.kind.type === "tool_error_terminal") {
          handle.set("entelix.failure.tool_name", end.kind.tool_name);
          handle.set("entelix.failure.tool_error_kind", end.kind.kind);
        }
        if (end.envelope !== undefined) {
          handle.set("entelix.failure.origin", textIn(end.envelope.origin));
          setBreach(handle, end.envelope.breach);
          setEnvelope(handle, end.envelope);
        }
        if (this.#benign.has(end.kind.type)) {
          handle.set("entelix.error.message", this.#errorText(end.message, run));
        } else {
          handle.set("error.type", end.kind.type);
          this.#fail(handle, run, { text: end.message, exception: end.exception, at });
        }
        break;
      }
      case "refused":
        if (end.message !== undefined) {
          handle.set("entelix.error.message", this.#errorText(end.message, run));
        }
        break;
      case "interrupted":
        if (end.kind !== undefined) setInterruption(handle, end.kind);
        if (end.message !== undefined) {
          handle.set("entelix.error.message", this.#errorText(end.message, run));
        }
        if (this.#content.captures) {
          const field = "entelix.interruption.payload";
          handle.set(field, this.#value(handle, end.content, field, run));
        }
        break;
      case "abandoned":
        handle.set("entelix.run.abandoned_reason", end.reason);
        break;
      default:
        end satisfies never;
    }
    if (this.#content.captures) {
      if (end.asked !== undefined) this.describeQuestion(handle, run, end.asked);
      if (end.answer !== undefined) this.#describeAnswer(handle, run, end.answer);
    }
    if (end.attributes !== undefined) this.setFurther(handle, end.attributes);
  }

  describeModelCall(
    handle: SpanHandle,
    run: Run<SpanHandle>,
    call: ModelCall<SpanHandle>,
    end: ModelEnd,
    at: Instant,
  ): void {
    handle.set("entelix.model.outcome", end.outcome);
    // At the end, since a late start can set them.
    handle.set("gen_ai.agent.name", nameIn(run.agent));
    this.#subject.setOnCall(handle, run);
    if (call.model === undefined && end.model !== undefined) {
      handle.set("gen_ai.request.model", end.model);
      handle.span.updateName(`${call.operation} ${end.model}`);
    }
    switch (end.outcome) {
      case "unfinished":
        break;
      case "complete":
        if (this.#content.captures) {
          const reasons = end.attributes?.["gen_ai.response.finish_reasons"];
          this.#describeAnswer(handle, run, end.content, textsOf(reasons));
          this.describeRequest(handle, run, call, end.asked, end.context);
        }
        break;
      case "interrupted":
        if (end.message !== undefined) {
          handle.set("entelix.error.message", this.#errorText(end.message, run));
        }
        break;
      case "error": {
        const { envelope, kind, message, type, exception } = end.problem;
        if (envelope !== undefined) setEnvelope(handle, envelope);
        if (kind !== undefined && this.#benign.has(kind.type)) {
          handle.set("entelix.error.message", this.#errorText(message, run));
        } else {
          handle.set("error.type", kind?.type ?? type ?? UNKNOWN_ERROR);
          this.#fail(handle, run, { text: message, exception, at });
        }
        break;
      }
      default:
        end satisfies never;
    }
    if (end.attributes !== undefined) this.setFurther(handle, end.attributes);
  }

  describeCall(
    handle: SpanHandle,
    run: Run<SpanHandle>,
    call: Call<SpanHandle>,
    end: CallEnd,
    at: Instant,
  ): void {
    // Every call has these. Direct calls cost less, since V8 does not inline `set` for all attributes.
    const span: OwnAttributes = handle.span;
    const agent = nameIn(run.agent);
    const version = nameIn(call.version);
    span.setAttribute("gen_ai.tool.call.id", call.id);
    span.setAttribute("gen_ai.tool.type", "function");
    if (agent !== undefined) span.setAttribute("gen_ai.agent.name", agent);
    this.#subject.setOnCall(handle, run);
    if (version !== undefined) span.setAttribute("entelix.tool.version", version);
    span.setAttribute("entelix.tool.outcome", end.outcome);
    if (call.occurrence > 1) handle.set("entelix.tool.occurrence", call.occurrence);
    if (call.approved) {
      if (call.approvalAttributes !== undefined) handle.setAttributes(call.approvalAttributes);
      else {
        handle.set("entelix.approval.outcome", "approved");
        handle.set("entelix.approval.wait_ms", call.approvalWaitMs);
      }
    }
    switch (end.outcome) {
      case "unfinished":
        break;
      case "complete":
        if (this.#content.captures) {
          const field = "gen_ai.tool.call.result";
          handle.set(field, this.#value(handle, end.content, field, run, call.name));
        }
        break;
      case "error":
        handle.set("error.type", end.kind ?? UNKNOWN_ERROR);
        handle.set("entelix.tool.error_kind", end.kind);
        handle.set("entelix.failure.fingerprint", callFingerprint(call.name, end));
        if (end.modelText === null) handle.set("entelix.tool.model_text_unknown", true);
        else if (this.#content.captures) {
          const field = "entelix.tool.model_text";
          handle.set(field, this.#value(handle, end.modelText, field, run, call.name));
        }
        if (end.envelope !== undefined) setEnvelope(handle, end.envelope);
        this.#fail(handle, run, { text: end.message, exception: end.exception, at }, call.name);
        break;
      case "interrupted":
        if (end.message !== undefined) {
          handle.set("entelix.error.message", this.#errorText(end.message, run, call.name));
        }
        break;
      case "cancelled":
        setEnvelope(handle, end.envelope);
        handle.set("entelix.error.message", this.#errorText(end.message, run, call.name));
        break;
      case "denied": {
        const field = "entelix.approval.reason";
        if (end.decision === undefined) handle.set("entelix.approval.outcome", "denied");
        else handle.setAttributes(this.#decisions.of(end.decision, "denied", run, call.name));
        handle.set(field, this.#value(handle, end.content, field, run, call.name));
        break;
      }
      default:
        end satisfies never;
    }
    if (end.attributes !== undefined) handle.setAttributes(end.attributes);
  }

  #describeAnswer(
    handle: SpanHandle,
    run: Run<SpanHandle>,
    answer: unknown,
    reasons?: readonly string[],
  ): void {
    const field = "gen_ai.output.messages";
    handle.set(field, this.#content.output(answer, fieldOf(field, run), handle, reasons));
  }

  #fail(handle: SpanHandle, run: Run<SpanHandle>, failure: SpanFailure, tool?: string): void {
    const { text, exception, at } = failure;
    if (exception !== undefined) {
      const { tenantId, runId } = run;
      this.#exceptions.add(handle, at, exception, { tenantId, runId, tool });
    }
    if (text === "") handle.span.setStatus({ code: SpanStatusCode.ERROR });
    else {
      const message = this.#errorText(text, run, tool, "status");
      handle.span.setStatus({ code: SpanStatusCode.ERROR, message });
    }
  }

  #errorText(
    text: string,
    run: Run<SpanHandle>,
    tool?: string,
    attribute = "entelix.error.message",
  ): string {
    const { tenantId, runId } = run;
    return this.#content.errorText(text, { attribute, tenantId, runId, tool });
  }

  #value(
    handle: SpanHandle,
    value: unknown,
    attribute: AttributeName,
    run: Run<SpanHandle>,
    tool?: string,
  ): string | undefined {
    const { tenantId, runId } = run;
    return this.#content.value(value, { attribute, tenantId, runId, tool }, handle);
  }
}

function fieldOf(attribute: AttributeName, { runId, tenantId }: Run<SpanHandle>): ContentField {
  return { attribute, tenantId, runId };
}

function textsOf(value: SpanAttributeValue | undefined): readonly string[] | undefined {
  return typeof value === "object" ? value : undefined;
}
