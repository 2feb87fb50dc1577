// The door of `agents/core`: what adapters share. Other parts of the room import from here.

export {
  type Beginning,
  type Failure,
  LEFT_OPEN,
  type ModelCall,
  type ModelRequest,
  type ModelUse,
  type OpenEnvelope,
  PAUSED,
  type ResultOptions,
  type RunRef,
  RunWriter,
  type Stamp,
  type Step,
  startedNow,
  type ToolCall,
} from "../writer/door.ts";
export { ADAPTER_CHECKS, type AdapterOptions } from "./adapter-options.ts";
export { replacementText } from "./ai-sdk.ts";
export { modelIn, reasonIn, refusesIn, tokensIn } from "./answer-fields.ts";
export { type BegunRun, beginRun, inheritedBy, newRunRef, placeIn } from "./begin-run.ts";
export {
  countUse,
  type Decision,
  type ModelCallOptions,
  sendDecision,
  sendReturned,
  type ToolCallOptions,
} from "./call-reports.ts";
export { type AdapterCounts, Containment, contained, Fence } from "./fence.ts";
export {
  type AskedTenant,
  askedSubject,
  askedTenant,
  type DecidedBy,
  personOf,
  type ToolDecision,
  tenantOf,
  threadOf,
} from "./hooks.ts";
export { describedIn, embeddedTexts, toolChoiceOf } from "./model-request.ts";
export { countOf, type Fields, fieldIn, fieldsOf, listOf, textOf } from "./narrow.ts";
export { observed, observedStream, type StreamObserver } from "./observed-stream.ts";
export {
  checkPausedRuns,
  type KnownPause,
  type PausedRun,
  type PausedRuns,
  Pauses,
  waitedMs,
  whenKnown,
} from "./paused-runs.ts";
export { aiSdkProvider, answeredBy, renamedProvider, routedIn } from "./providers.ts";
export { SafeSink } from "./safe-sink.ts";
export { UsageTotals } from "./usage-totals.ts";
