import { AgentError, type FailureSource, FROM_MODEL, FROM_RUN } from "../../events/door.ts";
import { type Fields, fieldsOf, listOf, textOf } from "../core/door.ts";
import { amountOf, decimalOf } from "./usage-difference.ts";

/** Why a run ended without an answer. */
export interface Ending {
  readonly thrown: unknown;
  readonly source: FailureSource;
}

/** HTTP statuses for the SDK's error words, used if the real status is not known. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ["authentication_failed", 401],
  ["oauth_org_not_allowed", 403],
  ["account_on_hold", 403],
  ["verification_required", 403],
  ["billing_error", 402],
  ["rate_limit", 429],
  ["overloaded", 529],
  ["invalid_request", 400],
  ["model_not_found", 404],
  ["server_error", 500],
]);

/**
 * The error of a model call.
 *
 * @param word the SDK's word for the error.
 * @param status of the provider's response, if known.
 * @param text for operators.
 */
export function modelError(word: string, status: number | undefined, text: string): Error {
  const known = status ?? STATUSES.get(word);
  if (known !== undefined) return AgentError.http(known, text);
  if (word === "cloud_credential_error") return AgentError.authSourceUnreachable(text);
  // The SDK has no word for a missing response. "unknown" may be anything.
  return new Error(text);
}

/**
 * How an answer ended, from the SDK's own message about it: a refusal, or an answer that was cut off.
 *
 * @returns the API's word. `undefined`: the message is not about an answer.
 */
export function answerEnd(message: Fields): string | undefined {
  if (textOf(message.refused_message_id) !== undefined) return "refusal";
  if (message.error !== "max_output_tokens") return undefined;
  const isFull = fieldsOf(message.api_error_params)?.cut === "context_window";
  return isFull ? "model_context_window_exceeded" : "max_tokens";
}

/** Reasons that mean a failure of the model or its API. */
const MODEL_ENDS: ReadonlySet<unknown> = new Set([
  "api_error",
  "model_error",
  "prompt_too_long",
  "image_error",
  "blocking_limit",
  "rapid_refill_breaker",
  "malformed_tool_use_exhausted",
]);

const ABORTS: ReadonlySet<unknown> = new Set(["aborted_streaming", "aborted_tools"]);

/** Limits that the caller of `query()` set, and the cost before it. */
export interface Limits {
  readonly maxTurns: number | undefined;
  readonly maxBudgetUsd: number | undefined;
  /** The total cost when this `query()` started. The budget does not include it. `undefined`: not known. */
  readonly costAtStart: number | undefined;
}

/** Further state at the time of a result. */
export interface ResultState extends Limits {
  /** Whether `interrupt()` was called, or a denial stopped the run. */
  readonly wasInterrupted: boolean;
  /** The error of the last model call, if it was the last event of the run. */
  readonly modelError: unknown;
  /** The error of the abort controller. `undefined`: it has not fired. */
  readonly abortError: AgentError | undefined;
}

/** Why the result is a failure. `undefined`: it is a success. */
export function endingOf(result: Fields, state: ResultState): Ending | undefined {
  const { subtype, terminal_reason: reason } = result;
  if (subtype === "success" && result.is_error !== true) {
    // After an abort, the SDK may still deliver a success, and then rejects the reader.
    return state.abortError && ofRun(state.abortError);
  }
  if (subtype === "error_max_turns" || reason === "max_turns") {
    return ofRun(AgentError.usageLimitExceeded(turnsBreach(result, state)));
  }
  if (subtype === "error_max_budget_usd" || reason === "budget_exhausted") {
    return ofRun(AgentError.usageLimitExceeded(costBreach(result, state)));
  }
  if (state.abortError !== undefined) return ofRun(state.abortError);
  if (state.wasInterrupted || ABORTS.has(reason)) return ofRun(AgentError.cancelled());
  const text = resultText(result);
  if (
    subtype === "error_max_structured_output_retries" ||
    reason === "structured_output_retry_exhausted"
  ) {
    const retries = amountOf(result.num_turns) ?? 1;
    // The model may see this hint, so it does not have the SDK's text.
    const hint = "the answer could not be used";
    return ofModel(AgentError.modelRetry(hint, retries, { cause: new Error(text) }));
  }
  if (textOf(result.startup_failure_reason) !== undefined || reason === "turn_setup_failed") {
    return ofRun(AgentError.config(text));
  }
  if (state.modelError !== undefined) return ofModel(withStatus(result, state.modelError, text));
  const status = amountOf(result.api_error_status);
  if (status !== undefined) return ofModel(AgentError.http(status, text));
  return MODEL_ENDS.has(reason) ? ofModel(new Error(text)) : ofRun(new Error(text));
}

function withStatus(result: Fields, known: unknown, text: string): unknown {
  const status = amountOf(result.api_error_status);
  return status === undefined ? known : AgentError.http(status, text, { cause: known });
}

function ofRun(thrown: unknown): Ending {
  return { thrown, source: FROM_RUN };
}

function ofModel(thrown: unknown): Ending {
  return { thrown, source: FROM_MODEL };
}

const IN_BRACKETS = /\(\$?(\d+(?:\.\d+)?)\)/;

/** The limit in the SDK's text. It may come from settings that the adapter does not see. */
function limitInText(result: Fields): number | undefined {
  const found = IN_BRACKETS.exec(resultText(result))?.[1];
  return found === undefined ? undefined : Number(found);
}

function turnsBreach(result: Fields, { maxTurns }: Limits) {
  const limit = maxTurns ?? limitInText(result) ?? Number.NaN;
  return { axis: "requests", limit, observed: amountOf(result.num_turns) ?? Number.NaN } as const;
}

function costBreach(result: Fields, { costAtStart, maxBudgetUsd }: Limits) {
  const limit = maxBudgetUsd ?? limitInText(result);
  const total = amountOf(result.total_cost_usd) ?? 0;
  return {
    axis: "cost_usd",
    limit: limit === undefined ? "" : decimalOf(limit),
    observed: decimalOf(Math.max(0, total - (costAtStart ?? 0))),
  } as const;
}

/** The operator's text of a failed result. */
function resultText(result: Fields): string {
  const errors = (listOf(result.errors) ?? []).filter((each) => textOf(each) !== undefined);
  if (errors.length > 0) return errors.join("; ");
  return textOf(result.result) ?? textOf(result.subtype) ?? "the result says that it failed";
}

/**
 * Why a stream ended before the result.
 *
 * @param thrown by the SDK. `undefined`: the stream ended without an error.
 * @param wasClosed whether the reader or `close()` ended it.
 */
export function streamEnded(
  thrown: unknown,
  wasClosed: boolean,
  abortError: AgentError | undefined,
): Ending {
  if (abortError !== undefined) return ofRun(abortError);
  if (wasClosed) return ofRun(AgentError.cancelled());
  return ofRun(thrown ?? new Error("the stream of the SDK ended before the result"));
}
