import {
  AgentError,
  classifyToolError,
  cutText,
  type EventDetails,
  envelopeOf,
  type FailureSource,
  type InputMessage,
  type Instant,
  now,
  renderForLlm,
  resultException,
  resultText,
  type ToolFailure,
  toolEnvelopeOf,
} from "../../events/door.ts";
import { type ModelRequest, type SafeSink, withDetails } from "../core/door.ts";
import { isZeroCost } from "../runtime/door.ts";
import type { HeldFailures } from "./held-failures.ts";
import type { Failure } from "./langchain-errors.ts";
import { errorText, exceptionIn, explained } from "./langchain-errors.ts";
import type { Answer } from "./llm-result.ts";
import type { DecidedCall } from "./review.ts";
import { envelopeIn, eventId, inStep } from "./run-events.ts";
import type { RunState } from "./run-state.ts";
import type { ModelScope, ToolScope } from "./scope.ts";

/** The error of a tool that paused its run, with upstream's text. LangGraph's text would contain the payload. */
const PAUSED = AgentError.interrupted({ type: "custom" });
const PAUSED_FIELDS = {
  error: PAUSED.message,
  error_for_llm: renderForLlm(PAUSED),
  envelope: envelopeOf(PAUSED),
  kind: classifyToolError(PAUSED),
};

/** Sends the events of tool calls and model calls. */
export class CallEvents {
  readonly #sink: SafeSink;
  /** Failed tool calls whose events wait for the model's text. */
  readonly held: HeldFailures;

  constructor(sink: SafeSink, held: HeldFailures) {
    this.#sink = sink;
    this.held = held;
  }

  /** @param description the tool's description. */
  toolStarted(call: ToolScope, input: unknown, description: string | undefined): void {
    const { run, toolUseId, tool } = call;
    const envelope = envelopeIn(run, eventId(call.id, "call-start"));
    if (description !== undefined) {
      envelope.details = { ...envelope.details, tool_description: description };
    }
    this.#sink.send(
      {
        type: "tool_start",
        run_id: run.id,
        tenant_id: run.tenant,
        tool_use_id: toolUseId,
        tool,
        input,
      },
      inStep(envelope, call.stepId),
    );
  }

  toolCompleted(call: ToolScope, output: unknown): void {
    const { run, toolUseId, tool } = call;
    this.#sink.send(
      {
        type: "tool_complete",
        run_id: run.id,
        tenant_id: run.tenant,
        tool_use_id: toolUseId,
        tool,
        duration_ms: sinceMs(call.startedMs),
        output,
      },
      envelopeIn(run, eventId(call.id, "call-end")),
    );
  }

  /**
   * Sends a person's decision about a call that has not started.
   *
   * @param at index of the decision among those of the node.
   */
  decided(run: RunState, nodeId: string, at: number, decided: DecidedCall): void {
    const { approved, details, reason, tool, toolUseId } = decided;
    const names = { run_id: run.id, tenant_id: run.tenant, tool_use_id: toolUseId, tool };
    this.#sink.send(
      approved
        ? { type: "tool_call_approved", ...names }
        : { type: "tool_call_denied", ...names, reason },
      inStep(
        withDetails(envelopeIn(run, `${nodeId}:decision:${at}`), { decision: details }),
        nodeId,
      ),
    );
  }

  /** @param source the innermost call that threw the error. */
  toolFailed(call: ToolScope, thrown: unknown, source: FailureSource): void {
    const known = explained(thrown);
    const fields = {
      error: errorText(thrown),
      error_for_llm: renderForLlm(known, source),
      envelope: toolEnvelopeOf(known, source),
      kind: classifyToolError(known, source),
    };
    const exception = exceptionIn(thrown);
    const details = exception === undefined ? undefined : { exception };
    const { chainId, run, toolUseId } = call;
    const moment = momentOf(call);
    if (chainId === undefined) {
      this.#toolError(call, fields, details, moment);
      return;
    }
    this.held.hold(run, { toolUseId, chainId, thrown }, (text) => {
      if (text === "own") this.#toolError(call, fields, details, moment);
      else if (text === "cut") {
        this.toolCut(call, AgentError.deadlineExceeded({ cause: thrown }), moment);
      } else if (text === "unknown") {
        const unknown = { ...fields, error_for_llm: resultText("") };
        this.#toolError(call, unknown, { ...details, model_text: "unknown" }, moment);
      } else this.#toolError(call, { ...fields, error_for_llm: text }, details, moment);
    });
  }

  toolFailedWith(call: ToolScope, failure: ToolFailure): void {
    this.#toolError(call, failure, resultException(failure));
  }

  /** @param error why the call was cut off. It does not count as a failure of the tool. */
  toolCut(call: ToolScope, error: AgentError, moment?: Moment): void {
    const source: FailureSource = { origin: "tool", tool: call.tool };
    const fields = {
      error: cutText(error),
      error_for_llm: renderForLlm(error, source),
      envelope: toolEnvelopeOf(error, source),
      kind: classifyToolError(error, source),
    };
    this.#toolError(call, fields, undefined, moment);
  }

  toolPaused(call: ToolScope): void {
    this.#toolError(call, PAUSED_FIELDS);
  }

  #toolError(
    call: ToolScope,
    fields: ToolFailure,
    details?: EventDetails,
    { at, took }: Partial<Moment> = {},
  ): void {
    const { run, toolUseId, tool } = call;
    this.#sink.send(
      {
        type: "tool_error",
        run_id: run.id,
        tenant_id: run.tenant,
        tool_use_id: toolUseId,
        tool,
        error: fields.error,
        error_for_llm: fields.error_for_llm,
        envelope: fields.envelope,
        kind: fields.kind,
        duration_ms: took ?? sinceMs(call.startedMs),
      },
      withDetails(envelopeIn(run, eventId(call.id, "call-end"), at), details),
    );
  }

  modelStarted(
    call: ModelScope,
    request: ModelRequest,
    input: readonly InputMessage[] | undefined,
    tools: unknown,
  ): void {
    const { run } = call;
    this.#sink.send(
      {
        type: "model_start",
        run_id: run.id,
        tenant_id: run.tenant,
        model_call_id: call.id,
        model: call.model ?? null,
        ...request,
        ...(tools === undefined ? {} : { tools }),
        input,
      },
      inStep(envelopeIn(run, eventId(call.id, "call-start")), call.stepId),
    );
  }

  /** @param cost US dollars as decimal text, if known. */
  modelAnswered(call: ModelScope, answer: Answer, cost: string | undefined): void {
    const { run, firstMs, startedMs } = call;
    const envelope = envelopeIn(run, eventId(call.id, "call-end"));
    if (cost !== undefined && isZeroCost(cost)) {
      envelope.details = { ...envelope.details, cost_known: true };
    }
    this.#sink.send(
      {
        type: "model_complete",
        run_id: run.id,
        tenant_id: run.tenant,
        model_call_id: call.id,
        model: call.model ?? null,
        duration_ms: sinceMs(startedMs),
        first_output_ms: firstMs === undefined ? null : Math.round(firstMs - startedMs),
        usage: answer.usage ?? null,
        response_model: answer.responseModel ?? null,
        response_id: answer.responseId ?? null,
        finish_reasons: answer.finishReasons ?? null,
        ...(cost === undefined ? {} : { cost_usd: cost }),
        output: answer.output,
      },
      envelope,
    );
  }

  modelFailed(call: ModelScope, failure: Failure): void {
    const { run } = call;
    const { exception } = failure;
    const details = exception === undefined ? undefined : { exception };
    this.#sink.send(
      {
        type: "model_error",
        run_id: run.id,
        tenant_id: run.tenant,
        model_call_id: call.id,
        model: call.model ?? null,
        duration_ms: sinceMs(call.startedMs),
        error: failure.error,
        envelope: failure.envelope,
        kind: failure.kind,
      },
      withDetails(envelopeIn(run, eventId(call.id, "call-end")), details),
    );
  }
}

function sinceMs(startedMs: number): number {
  return Math.round(performance.now() - startedMs);
}

/** When a call ended, and its duration in ms. */
interface Moment {
  readonly at: Instant;
  readonly took: number;
}

function momentOf({ startedMs }: ToolScope): Moment {
  return { at: now(), took: sinceMs(startedMs) };
}
