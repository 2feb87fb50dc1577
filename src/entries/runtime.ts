// `entelix-otel/runtime`: agents written in TypeScript.

export type { AgentRun, RunHandle } from "../agents/runtime/agent-run.ts";
export type { BudgetLimits } from "../agents/runtime/budget.ts";
export type { ModelCall, ModelFunction, ModelOptions } from "../agents/runtime/call-model.ts";
export type { StepFunction, StepOptions } from "../agents/runtime/call-step.ts";
export type { ToolCall, ToolFunction, ToolOptions } from "../agents/runtime/call-tool.ts";
export type { ModelReport } from "../agents/runtime/model-report.ts";
export type { Price, PricedCall } from "../agents/runtime/price.ts";
export { runAgent, startRun } from "../agents/runtime/run-agent.ts";
export {
  type Interruption,
  interrupt,
  isInterruption,
  isRunEnded,
  isToolDenied,
  RunEndedError,
  RunNotCompletedError,
  ToolDeniedError,
} from "../agents/runtime/run-errors.ts";
export type { RunOptions } from "../agents/runtime/run-options.ts";
export type {
  ApprovalDecision,
  Approve,
  FailedTool,
  PendingTool,
  RecordedDecision,
  TerminalToolErrors,
} from "../agents/runtime/run-policy.ts";
export type { RunSubject } from "../agents/runtime/run-subject.ts";
export { type CurrentRun, currentRun } from "../events/context/current-run.ts";
export type { RunContext } from "../events/context/run-context.ts";
export type { IsFailure, ReturnedCall } from "../events/errors/tool-result.ts";
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
} from "../events/messages/message.ts";
export { toMessages } from "../events/messages/to-messages.ts";
export type { ModelCallUsage, ModelParameters } from "../events/model-event.ts";
export type { LoopOptions } from "../events/tool-calls/loop-limits.ts";
