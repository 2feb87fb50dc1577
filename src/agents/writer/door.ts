// The door of `agents/writer`: the events of a run, as adapters and the runtime send them. Other parts of the room import
// from here. This part imports no other, because all others use it.

export type { ResultOptions } from "./call-writer.ts";
export { type OpenEnvelope, withDetails } from "./event-writer.ts";
export {
  type Beginning,
  type Failure,
  LEFT_OPEN,
  type ModelAnswer,
  type ModelCall,
  type ModelRequest,
  type ModelUse,
  PAUSED,
  type RunRef,
  type Stamp,
  type Step,
  type SubjectFields,
  startedNow,
  type Timed,
  type ToolCall,
} from "./run-parts.ts";
export { RunWriter } from "./run-writer.ts";
export { toolFailureOf } from "./tool-failure.ts";
