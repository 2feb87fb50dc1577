// The door of `agents/runtime`: agents written in TypeScript. Other parts of the room import from here.

export type { SubjectFields } from "../writer/door.ts";
export { abortError, cutBy, isReason, isStop } from "./aborts.ts";
export {
  type ActiveRun,
  activeRun,
  carried,
  currentIn,
  inModelCall,
  inToolCall,
  withCurrentRun,
} from "./active-run.ts";
export type { AgentRun, RunHandle } from "./agent-run.ts";
export type { BudgetLimits } from "./budget.ts";
export type { ModelCall, ModelFunction, ModelOptions } from "./call-model.ts";
export type { StepFunction, StepOptions } from "./call-step.ts";
export type { ToolCall, ToolFunction, ToolOptions } from "./call-tool.ts";
export { parametersIn } from "./model-parameters.ts";
export type { ModelReport } from "./model-report.ts";
export { costOf, type Price, type PricedCall } from "./price.ts";
export { runAgent, startRun } from "./run-agent.ts";
export {
  type Interruption,
  interrupt,
  interruptionIn,
  isInterruption,
  isRunEnded,
  isToolDenied,
  RunEndedError,
  RunNotCompletedError,
  ToolDeniedError,
} from "./run-errors.ts";
export type { RunOptions } from "./run-options.ts";
export type {
  ApprovalDecision,
  Approve,
  FailedTool,
  PendingTool,
  RecordedDecision,
  TerminalToolErrors,
} from "./run-policy.ts";
export { type RunSubject, subjectFields } from "./run-subject.ts";
export { serverOf } from "./server-address.ts";
export { reportLongWait } from "./verdict.ts";
