// The door of `events`: what an agent reports, and what every room needs. See ROOM.md.

export {
  AGENT_EVENT_TYPES,
  type AgentEvent,
  type AgentEventType,
  type Complete,
  eraseState,
  type Failed,
  type Interrupted,
  type Started,
  type ToolCallApproved,
  type ToolCallAsked,
  type ToolCallDenied,
  type ToolComplete,
  type ToolError,
  type ToolStart,
  tenantKey,
  type UsageSnapshot,
} from "./agent-event.ts";
export { boundedCopy, MOST_COPY } from "./bounded-copy.ts";
export { boundedJson } from "./bounded-json.ts";
export { breachForm, limitBreachForm, u64 } from "./breach-form.ts";
export { now } from "./clock.ts";
export {
  type CurrentRun,
  currentRun,
  currentScope,
  type RunScope,
  runStorage,
} from "./context/current-run.ts";
export { readEnvironment, writeEnvironment } from "./context/environment.ts";
export { type HeadersLike, readHeaders, writeHeaders } from "./context/http-headers.ts";
export { readMessage, writeMessage } from "./context/message.ts";
export {
  type CarrierOptions,
  type IgnoredReason,
  isRunContextSource,
  RUN_CONTEXT_HEADERS,
  type RunContext,
  type RunContextSource,
} from "./context/run-context.ts";
export {
  addDecimals,
  type Decimal,
  formatDecimal,
  isGreater,
  parseDecimal,
  readDecimal,
  roundedText,
  ZERO,
} from "./decimal.ts";
export { AgentError, isAgentError, type ProviderErrorOptions } from "./errors/agent-error.ts";
export type {
  AgentErrorDetail,
  AuthDetail,
  BudgetBreach,
  InterruptionKind,
  ProviderDetail,
  UsageLimitBreach,
} from "./errors/agent-error-detail.ts";
export { failureKindFromEnvelope, toolErrorKindFromEnvelope } from "./errors/agent-error-tables.ts";
export { asAgentError, knownError } from "./errors/as-agent-error.ts";
export {
  classifyFailure,
  classifyToolError,
  envelopeOf,
  renderForLlm,
  toolEnvelopeOf,
} from "./errors/classify.ts";
export { setUnclassifiedWarning, type UnclassifiedWarning } from "./errors/classify-warning.ts";
export {
  type ErrorEnvelope,
  FAILURE_KIND_IDS,
  type FailureKind,
  type FailureKindId,
  TOOL_ERROR_KINDS,
  type ToolErrorKind,
  type WireClass,
  wireId,
  wireWord,
} from "./errors/error-kinds.ts";
export { type ExceptionDetails, exceptionDetails, resultException } from "./errors/exception-of.ts";
export {
  cutOf,
  errorsIn,
  FAILURE_ORIGINS,
  type FailureOrigin,
  type FailureSource,
  FROM_MODEL,
  FROM_RUN,
  recordSource,
  type SourceScope,
  schemaIn,
  sourceMoment,
  sourceOf,
} from "./errors/failure-source.ts";
export { type RenderedForLlm, resultText } from "./errors/llm-text.ts";
export {
  cutText,
  hasName,
  listProperty,
  operatorText,
  property,
  textProperty,
  thrownMessage,
} from "./errors/thrown.ts";
export { MCP_PREFIX, refusesResult } from "./errors/thrown-rpc.ts";
export {
  type NotMade,
  notMadeEnvelope,
  notMadeFailure,
  refusalIn,
  whyNotMade,
} from "./errors/tool-not-made.ts";
export {
  failureInResult,
  type IsFailure,
  type ReturnedCall,
  type ToolFailure,
  textOfResult,
} from "./errors/tool-result.ts";
export {
  type DecisionDetails,
  type EventDetails,
  eventDetails,
  type McpDetails,
  type RunOperation,
} from "./event-details.ts";
export {
  type EventEnvelope,
  isTraceparent,
  readEventTime,
  SequenceCounter,
  sentLater,
} from "./event-envelope.ts";
export {
  forgetJson,
  type JsonValue,
  keepJson,
  parseExact,
  parseJson,
  stringifyExact,
} from "./exact-json.ts";
export { forgetNames, keepNames } from "./field-names.ts";
export { trimmedEnd } from "./format/text.ts";
export {
  asOne,
  count,
  type FieldIssue,
  type Form,
  flag,
  type Infer,
  isText,
  json,
  jsonOf,
  list,
  name,
  nullish,
  type Optional,
  oneOf,
  oneOfElse,
  openWord,
  optional,
  text,
  textWhere,
  value,
  withoutNull,
} from "./forms.ts";
export {
  HASH_SALT,
  hashedWords,
  hashOfId,
  IdTable,
  type IdWords,
  readUuid,
} from "./ids/id-words.ts";
export { RecentMap, RecentPairs } from "./ids/recent-map.ts";
export { canonicalRunId, hashedUuid, isUuid, RunIds, spanIdOf } from "./ids/run-ids.ts";
export {
  addMilliseconds,
  compareInstants,
  formatRfc3339,
  fromMilliseconds,
  type Instant,
  instantOf,
  inUtc,
  isAt,
  isSince,
  isSpanTime,
  millisecondsBetween,
  readTimestamp,
  subtractMs,
  TIME_ANSWER,
  toMilliseconds,
} from "./instant.ts";
export {
  bytesOf,
  FieldsNode,
  type JsonNode,
  knownSize,
  Leaf,
  ListNode,
  textJson,
} from "./json-nodes.ts";
export {
  chosenFields,
  type ListStyle,
  levelFor,
  writeFields,
  writeList,
  writeWithin,
} from "./json-shortening.ts";
export { JsonSyntaxError, JsonTextParser } from "./json-text-parser.ts";
export { ValueReader } from "./json-values.ts";
export { Conversation } from "./messages/conversation.ts";
export { finishReasonOf } from "./messages/finish-reason.ts";
export { keptConversations } from "./messages/kept-conversations.ts";
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
} from "./messages/message.ts";
export {
  joinedSize,
  joinedTexts,
  keptTexts,
  MessageText,
  ownTexts,
} from "./messages/message-text.ts";
export {
  inputMessages,
  instructionParts,
  messagesOrValue,
  outputMessages,
  toMessages,
} from "./messages/to-messages.ts";
export { toolDefinitions } from "./messages/tool-definitions.ts";
export {
  MODEL_EVENT_TYPES,
  type ModelCallUsage,
  type ModelComplete,
  type ModelError,
  type ModelEvent,
  type ModelOperation,
  type ModelParameters,
  type ModelStart,
} from "./model-event.ts";
export { nearest } from "./nearest.ts";
export { type NoticeCode, notice } from "./notices.ts";
export {
  isObject,
  type RecordForm,
  record,
  type TaggedForm,
  tagged,
  writeAsItStands,
} from "./object-forms.ts";
export {
  among,
  checkArgument,
  checkBoolean,
  checkFunction,
  checkGiven,
  checkGivenFunction,
  checkGivenText,
  checkList,
  checkObject,
  checkOneOf,
  checkText,
  checkWhole,
  describe,
  having,
  isCount,
  isWholeNumber,
  shownNumber,
  wholeFrom,
} from "./option-checks.ts";
export { isPlainWithin, plainJson, surelyFits } from "./plain-json.ts";
export { lookForHidden, withoutAdded } from "./polluted-prototype.ts";
export { processWide } from "./process-wide.ts";
export { Deferred, isPromise } from "./promises.ts";
export { hasEarlierNames } from "./semconv/opt-in.ts";
export {
  APPROVAL_EVENT,
  ATTRIBUTES,
  type AttributeName,
  EXCEPTION_EVENT,
  type KnownAttributes,
  type LogEvent,
  MARKER_SPAN,
} from "./semconv/semconv.ts";
export type {
  AbandonedReason,
  CallEnd,
  CallResult,
  LateReason,
  ModelContext,
  ModelEnd,
  ModelOpening,
  ModelProblem,
  RunEnd,
  RunUsage,
  Signal,
  SignalOf,
  SignalSubject,
  SpanAttributes,
  SpanAttributeValue,
  SpanEventTarget,
  StepEnd,
  StepKind,
  StepOpening,
  SupposedEnd,
} from "./signals/signal.ts";
export {
  numberOf,
  type OwnAttributes,
  type SignalAttributes,
  usageAttributes,
} from "./signals/signal-attributes.ts";
export { signalOf } from "./signals/signals.ts";
export { textIn } from "./signals/untyped.ts";
export {
  type AgentEventSink,
  type ClosableSink,
  type ContentNeed,
  contentNeedOf,
  type InnerSink,
  isSpanActivator,
  readsRows,
  type SentEvent,
  type SpanActivator,
  type SpanTarget,
  withSpanOf,
} from "./sinks/agent-event-sink.ts";
export {
  type BroadcastItem,
  type BroadcastOptions,
  BroadcastSink,
  type Lagged,
} from "./sinks/broadcast-sink.ts";
export { type CaptureOptions, CaptureSink } from "./sinks/capture-sink.ts";
export { type ChannelOptions, ChannelSink } from "./sinks/channel-sink.ts";
export { type DebugLine, type DroppingOptions, DroppingSink } from "./sinks/dropping-sink.ts";
export {
  type FailOpenHandler,
  type FailOpenOptions,
  FailOpenSink,
  type FailOpenStep,
} from "./sinks/fail-open-sink.ts";
export { FanOutSink } from "./sinks/fan-out-sink.ts";
export { endsInsideLine } from "./sinks/line-end.ts";
export type { Receiver } from "./sinks/receiver.ts";
export {
  type ProvenanceSource,
  type RecorderDiagnostics,
  RecorderSink,
  type RecorderSinkOptions,
} from "./sinks/recorder-sink.ts";
export type { RecordingTarget } from "./sinks/recording-writer.ts";
export { type ContentField, type RedactionHook, redacted } from "./sinks/redaction.ts";
export { StateErasureSink } from "./sinks/state-erasure-sink.ts";
export { soundUsage } from "./sound-usage.ts";
export {
  STEP_EVENT_TYPES,
  type StepComplete,
  type StepError,
  type StepEvent,
  type StepStart,
} from "./step-event.ts";
export { readFits } from "./sure-fit.ts";
export { asError, codeOf, hasCode, isDiskFull, kindOf } from "./system-error.ts";
export {
  type CallCounts,
  type CallTrail,
  callDropped,
  callEnded,
  callStarted,
  closedTrail,
  degradedTools,
  loopOf,
} from "./tool-calls/call-trail.ts";
export {
  LOOP_CHECKS,
  type LoopLimits,
  type LoopOptions,
  resolveLoopLimits,
} from "./tool-calls/loop-limits.ts";
export type { Loop, ToolCallName } from "./tool-calls/loop-watch.ts";
export {
  checkEach,
  checkedElsewhere,
  nested,
  type OptionChecks,
  reportUnknown,
} from "./unknown-options.ts";
export { cost, knownCost, tokens, usageForm, wholeNumber } from "./usage-form.ts";
export {
  type AnswerForm,
  answerOf,
  callErrorHook,
  callHook,
  handed,
  withoutRejections,
  yesOrNo,
} from "./users-functions.ts";
export {
  CONTENT_FORMS,
  decimalText,
  MOST_CONTENT_BYTES,
  MOST_INT,
  MOST_JSON_BYTES,
  MOST_LINE_BYTES,
  MOST_NAME,
} from "./value-limits.ts";
