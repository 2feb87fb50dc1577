import { SpanStatusCode } from "@opentelemetry/api";
import type { FailureKindId } from "../events/failure-kind.ts";
import type { Call } from "../lifecycle/call.ts";
import type { Run } from "../lifecycle/run.ts";
import type { CallEnd, RunEnd } from "../lifecycle/signals.ts";
import type { ContentPolicy } from "./content.ts";
import { addEnvelope, addInterruption, addUsage } from "./end-attributes.ts";
import type { AttributeName, KnownAttributes } from "./semconv.ts";
import type { SpanHandle } from "./span-handle.ts";

const CALL_ID: AttributeName = "gen_ai.tool.call.id";
const TOOL_TYPE: AttributeName = "gen_ai.tool.type";
const AGENT: AttributeName = "gen_ai.agent.name";
const VERSION: AttributeName = "entelix.tool.version";
const OUTCOME: AttributeName = "entelix.tool.outcome";

/** Says on a span how its run or call ended: outcome, error, usage, status. */
export class SpanEnds {
  readonly #content: ContentPolicy;
  readonly #benign: ReadonlySet<FailureKindId>;

  /** @param benign failure kinds that leave the status Unset. */
  constructor(content: ContentPolicy, benign: ReadonlySet<FailureKindId>) {
    this.#content = content;
    this.#benign = benign;
  }

  describeRun(handle: SpanHandle, run: Run<SpanHandle>, end: RunEnd): void {
    const attributes: KnownAttributes = { "entelix.run.outcome": end.outcome };
    if (run.toolCalls > 0) attributes["entelix.run.tool_calls"] = run.toolCalls;
    if (run.toolErrors > 0) attributes["entelix.run.tool_errors"] = run.toolErrors;
    if (run.approvedCalls > 0) attributes["entelix.run.approved_calls"] = run.approvedCalls;
    if (run.deniedCalls > 0) attributes["entelix.run.denied_calls"] = run.deniedCalls;
    switch (end.outcome) {
      case "complete":
        if (end.usage !== undefined) addUsage(attributes, end.usage, run.root);
        if (this.#content.captures) {
          const field = "entelix.run.state";
          attributes[field] = this.#value(end.content, field, run);
        }
        break;
      case "failed": {
        attributes["entelix.failure.kind"] = end.kind.type;
        if (end.kind.type === "tool_error_terminal") {
          attributes["entelix.failure.tool_name"] = end.kind.tool_name;
          attributes["entelix.failure.tool_error_kind"] = end.kind.kind;
        }
        addEnvelope(attributes, end.envelope);
        if (this.#benign.has(end.kind.type)) {
          attributes["entelix.error.message"] = this.#errorText(end.message, run);
        } else {
          attributes["error.type"] = end.kind.type;
          this.#fail(handle, end.message, run);
        }
        break;
      }
      case "interrupted":
        if (end.kind !== undefined) addInterruption(attributes, end.kind);
        if (end.message !== undefined) {
          attributes["entelix.error.message"] = this.#errorText(end.message, run);
        }
        if (this.#content.captures) {
          const field = "entelix.interruption.payload";
          attributes[field] = this.#value(end.content, field, run);
        }
        break;
      case "abandoned":
        attributes["entelix.run.abandoned_reason"] = end.reason;
        break;
      default:
        end satisfies never;
    }
    handle.span.setAttributes(attributes);
  }

  describeCall(
    handle: SpanHandle,
    run: Run<SpanHandle>,
    call: Call<SpanHandle>,
    end: CallEnd,
  ): void {
    const plain = end.outcome === "complete" && !this.#content.captures;
    if (plain && call.occurrence === 1 && !call.approved) {
      describePlainCall(handle, run, call);
      return;
    }
    const attributes: KnownAttributes = {
      "gen_ai.tool.call.id": call.id,
      "gen_ai.tool.type": "function",
      "gen_ai.agent.name": run.agent,
      "entelix.tool.version": call.version,
      "entelix.tool.outcome": end.outcome,
    };
    if (call.occurrence > 1) attributes["entelix.tool.occurrence"] = call.occurrence;
    if (call.approved) {
      attributes["entelix.approval.outcome"] = "approved";
      attributes["entelix.approval.wait_ms"] = call.approvalWaitMs;
    }
    switch (end.outcome) {
      case "unfinished":
        break;
      case "complete":
        if (this.#content.captures) {
          const field = "gen_ai.tool.call.result";
          attributes[field] = this.#value(end.content, field, run, call.name);
        }
        break;
      case "error":
        attributes["error.type"] = end.kind;
        attributes["entelix.tool.error_kind"] = end.kind;
        addEnvelope(attributes, end.envelope);
        this.#fail(handle, end.message, run, call.name);
        break;
      case "interrupted":
        attributes["entelix.error.message"] = this.#errorText(end.message, run, call.name);
        break;
      case "denied": {
        const field = "entelix.approval.reason";
        attributes["entelix.approval.outcome"] = "denied";
        attributes[field] = this.#value(end.content, field, run, call.name);
        break;
      }
      default:
        end satisfies never;
    }
    handle.span.setAttributes(attributes);
  }

  #fail(handle: SpanHandle, text: string, run: Run<SpanHandle>, tool?: string): void {
    const message = this.#errorText(text, run, tool, "status");
    handle.span.setStatus({ code: SpanStatusCode.ERROR, message });
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
    value: unknown,
    attribute: string,
    run: Run<SpanHandle>,
    tool?: string,
  ): string | undefined {
    const { tenantId, runId } = run;
    return this.#content.value(value, { attribute, tenantId, runId, tool });
  }
}

/** Most calls. One by one, since an object for a few attributes costs more than the calls. */
function describePlainCall(handle: SpanHandle, run: Run<SpanHandle>, call: Call<SpanHandle>): void {
  const { span } = handle;
  span.setAttribute(CALL_ID, call.id);
  span.setAttribute(TOOL_TYPE, "function");
  if (run.agent !== undefined) span.setAttribute(AGENT, run.agent);
  if (call.version !== undefined) span.setAttribute(VERSION, call.version);
  span.setAttribute(OUTCOME, "complete");
}
