/**
 * What went wrong in a tool call, coarse enough to decide whether to page, alert or ignore.
 *
 * Upstream: `ToolErrorKind` of entelix-core. It is the value of the span attributes `error.type` and
 * `entelix.tool.error_kind`.
 */
export type ToolErrorKind =
  | "transient"
  | "rate_limit"
  | "quota"
  | "auth"
  | "permanent"
  | "validation"
  | "internal";

/** Every {@link ToolErrorKind}, in upstream's order. */
export const TOOL_ERROR_KINDS = [
  "transient",
  "rate_limit",
  "quota",
  "auth",
  "permanent",
  "validation",
  "internal",
] as const satisfies readonly ToolErrorKind[];
