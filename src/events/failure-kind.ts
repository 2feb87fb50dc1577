import type { ToolErrorKind } from "./tool-error-kind.ts";

/**
 * Why a run failed: the closed taxonomy that alerts and dashboards split on.
 *
 * Upstream: `FailureKind` of entelix-agents. Its wire id is the value of `entelix.failure.kind`.
 */
export type FailureKind =
  | {
      readonly type: "tool_error_terminal";
      /** Class of the tool error that ended the run. */
      readonly kind: ToolErrorKind;
      /** The tool that failed, at the outermost wrapper. */
      readonly tool_name: string;
    }
  | { readonly type: "usage_limit_exceeded" }
  | { readonly type: "cancelled" }
  | { readonly type: "deadline_exceeded" }
  | { readonly type: "model_dispatch" }
  | { readonly type: "internal" }
  | { readonly type: "unclassified" };

/** The string form of a {@link FailureKind}: the value of `entelix.failure.kind`. */
export type FailureKindId = FailureKind["type"];

/** Every wire id, in upstream's order. */
export const FAILURE_KIND_IDS = [
  "tool_error_terminal",
  "usage_limit_exceeded",
  "cancelled",
  "deadline_exceeded",
  "model_dispatch",
  "internal",
  "unclassified",
] as const satisfies readonly FailureKindId[];

/** The value of `entelix.failure.kind` for a failure. */
export function wireId(kind: FailureKind): FailureKindId {
  return kind.type;
}
