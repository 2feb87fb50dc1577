/**
 * Why a run paused. A pause is not a failure.
 *
 * Upstream: `InterruptionKind` of entelix-core, tagged by `type`.
 */
export type InterruptionKind =
  | { readonly type: "custom" }
  | { readonly type: "approval_pending"; readonly tool_use_id: string }
  | {
      readonly type: "scheduled_pause";
      readonly phase: "before" | "after";
      readonly node: string;
    };
