// `entelix-otel/runtime`: agents written in TypeScript.

export type { RunContext } from "../context/run-context.ts";
export type { IsFailure, ReturnedCall } from "../errors/tool-result.ts";
export type { ModelCallUsage, ModelParameters } from "../events/model-event.ts";
export type {
  BlobPart,
  FilePart,
  GenericPart,
  InputMessage,
  MessagePart,
  OutputMessage,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolCallResponsePart,
  UriPart,
} from "../messages/message.ts";
export { toMessages } from "../messages/to-messages.ts";
export type { AgentRun, RunHandle } from "../runtime/agent-run.ts";
export type { BudgetLimits } from "../runtime/budget.ts";
export type { ModelCall, ModelFunction, ModelOptions } from "../runtime/call-model.ts";
export type { StepFunction, StepOptions } from "../runtime/call-step.ts";
export type { ToolCall, ToolFunction, ToolOptions } from "../runtime/call-tool.ts";
export { type CurrentRun, currentRun } from "../runtime/current-run.ts";
export type { ModelReport } from "../runtime/model-report.ts";
export type { Price, PricedCall } from "../runtime/price.ts";
export { runAgent, startRun } from "../runtime/run-agent.ts";
export {
  type Interruption,
  interrupt,
  isInterruption,
  isRunEnded,
  isToolDenied,
  RunEndedError,
  RunNotCompletedError,
  ToolDeniedError,
} from "../runtime/run-errors.ts";
export type { RunOptions } from "../runtime/run-options.ts";
export type {
  ApprovalDecision,
  Approve,
  FailedTool,
  PendingTool,
  RecordedDecision,
  TerminalToolErrors,
} from "../runtime/run-policy.ts";
export type { RunSubject } from "../runtime/run-subject.ts";
export type { LoopOptions } from "../tool-calls/loop-limits.ts";
