import { type FailureSource, FROM_MODEL, FROM_RUN, sourceOf } from "../../events/door.ts";
import { textInPlaceOf } from "../core/ai-sdk-errors.ts";
import type { Failure } from "../core/run-parts.ts";
import type { CallState } from "./call-state.ts";

/** What the SDK shows telemetry of an error if it must not show what goes in or out. */
const HIDDEN = "AI SDK operation failed";

/** The operator's text of an error. Default (`undefined`): the error's own. */
export function operatorTextOf(
  thrown: unknown,
  { isHidden }: Pick<CallState, "isHidden">,
): string | undefined {
  if (isHidden) return HIDDEN;
  return textInPlaceOf(thrown);
}

/**
 * Why a call of the SDK failed.
 *
 * @param shown the error as the SDK shows it; `undefined`: that of the model call.
 */
export function failureOf(state: CallState, shown: unknown): Failure {
  const { active, model, since } = state;
  const ofModel = model?.error ?? state.modelError;
  // If it is hidden, the SDK shows another error than the one that was thrown.
  const thrown =
    ofModel !== undefined && (state.isHidden || shown === undefined) ? ofModel.thrown : shown;
  const scope = { rootRunId: active.rootRunId, since };
  const source: FailureSource =
    sourceOf(thrown, scope) ?? (ofModel === undefined ? FROM_RUN : FROM_MODEL);
  return { thrown, source, text: operatorTextOf(thrown, state) };
}

/** The text that the SDK gives the model for a tool's error. Version 6 leaves the error's name away. */
export function toldToModel(thrown: unknown, { sdk }: Pick<CallState, "sdk">): string | null {
  if (thrown === undefined || thrown === null) return "unknown error";
  if (typeof thrown === "string") return thrown;
  try {
    if (thrown instanceof Error) return sdk === 6 ? thrown.message : thrown.toString();
    return JSON.stringify(thrown) ?? null;
  } catch {
    return null;
  }
}
