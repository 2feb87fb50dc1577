import {
  AgentError,
  type FailureSource,
  FROM_MODEL,
  FROM_RUN,
  sourceOf,
} from "../../events/door.ts";
import { type Failure, type Fields, replacementText } from "../core/door.ts";
import type { CallState } from "./call-state.ts";

/** The SDK's text for an error if inputs or outputs are hidden. */
const HIDDEN = "AI SDK operation failed";

/** The operator's text of an error. `undefined`: use the error's own text. */
export function operatorTextOf(
  thrown: unknown,
  { isHidden }: Pick<CallState, "isHidden">,
): string | undefined {
  if (isHidden) return HIDDEN;
  return replacementText(thrown);
}

/**
 * Why a call of the SDK failed.
 *
 * @param shown the error that the SDK shows. `undefined`: use the model call's error.
 */
export function failureOf(state: CallState, shown: unknown): Failure {
  const { active, model, since } = state;
  const ofModel = model?.error ?? state.modelError;
  // If content is hidden, the SDK shows a replacement for the thrown error.
  const thrown =
    ofModel !== undefined && (state.isHidden || shown === undefined) ? ofModel.thrown : shown;
  const scope = { rootRunId: active.rootRunId, since };
  // The SDK runs no attempt of `generateObject` and `streamObject` inside a callback: an open call is the one that
  // failed.
  const isOfModel = ofModel !== undefined || model?.attempts === 0;
  const source: FailureSource = sourceOf(thrown, scope) ?? (isOfModel ? FROM_MODEL : FROM_RUN);
  return { thrown, source, text: operatorTextOf(thrown, state) };
}

/**
 * The error with which `streamText` of version 7 ended a step after a good answer, such as one without the tool call that
 * `toolChoice` asks for. The SDK reports it in the stream alone; here, only the finish reason shows it.
 */
export function unreportedError(
  { lastReason, modelError, sdk }: CallState,
  { finishReason }: Fields,
): Error | undefined {
  const isGood = lastReason !== undefined && lastReason !== "error" && modelError === undefined;
  if (sdk !== 7 || finishReason !== "error" || !isGood) return undefined;
  const text = "the SDK ended the stream with an error after the answer";
  return new Error(text, { cause: AgentError.modelRetry(text, 0) });
}

/** The text that the SDK gives the model for a tool's error. Version 6 omits the error's name. */
export function modelText(thrown: unknown, { sdk }: Pick<CallState, "sdk">): string | null {
  if (thrown === undefined || thrown === null) return "unknown error";
  if (typeof thrown === "string") return thrown;
  try {
    if (thrown instanceof Error) return sdk === 6 ? thrown.message : thrown.toString();
    return JSON.stringify(thrown) ?? null;
  } catch {
    return null;
  }
}
