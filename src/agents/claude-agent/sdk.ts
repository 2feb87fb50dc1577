/** The part of the SDK's query object that this adapter uses. */
export interface SdkQuery extends AsyncGenerator<unknown, void> {
  interrupt?(): Promise<unknown>;
  close?(): void;
}

/** The hook events that the adapter uses. */
export const HOOK_EVENTS = [
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "PermissionDenied",
  "SubagentStart",
  "SubagentStop",
  "PreCompact",
  "PostCompact",
] as const;

/** Prefix of MCP tool names. */
export const MCP_PREFIX = "mcp__";

/** The field of `_meta` in which the SDK passes the call's ID to an in-process tool. */
export const TOOL_USE_META = "claudecode/toolUseId";
