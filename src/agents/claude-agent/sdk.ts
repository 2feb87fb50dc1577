/** What this adapter needs of the object that the SDK's `query()` returns. */
export interface SdkQuery extends AsyncGenerator<unknown, void> {
  interrupt?(): Promise<unknown>;
  close?(): void;
}

/** The events of the SDK's hooks that the adapter listens to. */
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

/** Prefix of the names of MCP tools. */
export const MCP_PREFIX = "mcp__";

/** The field of `_meta` in which the SDK tells a tool of this process which call it is. */
export const TOOL_USE_META = "claudecode/toolUseId";
