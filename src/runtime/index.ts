// `entelix-otel/runtime`: agents written in TypeScript.

export type { RunParent } from "../context/run-parent.ts";
export type { AgentRun, RunHandle } from "./agent-run.ts";
export type { ApprovalDecision, Approve, PendingTool } from "./approval.ts";
export type { BudgetLimits } from "./budget.ts";
export { type CurrentRun, currentRun } from "./current-run.ts";
export { type Interruption, interrupt, isInterruption } from "./interruption.ts";
export type { ModelCall, ModelFunction, ModelOptions } from "./model-call.ts";
export type { ModelReport } from "./model-report.ts";
export { runAgent, startRun } from "./run-agent.ts";
export {
  isRunEnded,
  isToolDenied,
  RunEndedError,
  RunNotCompletedError,
  ToolDeniedError,
} from "./run-errors.ts";
export type { RunOptions } from "./run-options.ts";
export type { FailedTool, TerminalToolErrors } from "./run-policy.ts";
export type { ToolCall, ToolFunction, ToolOptions } from "./tool-call.ts";
