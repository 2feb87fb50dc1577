// The door of `bridge/lifecycle`: the pure rules of runs, calls, models and steps. Other parts of the room import from
// here.

export type { Adjustment, Counters, IgnoredReason } from "./counters.ts";
export { IdCache } from "./id-cache.ts";
export { Lifecycle } from "./lifecycle.ts";
export { LIMIT_CHECKS, type LifecycleLimits, resolveLimits } from "./limits.ts";
export type { Outcome } from "./outcome.ts";
export type { OwnUsage } from "./own-usage.ts";
export type {
  Link,
  OuterParent,
  ParentContext,
  RunOwner,
  SignalContext,
} from "./parent-context.ts";
export type { Call, ModelCall, Step } from "./part.ts";
export { inSegment, type Run } from "./run.ts";
export type { RunKeeper } from "./run-keeper.ts";
export { bothOf, type CallDecision, type RunObserver } from "./run-observer.ts";
export type { SpanDriver } from "./span-driver.ts";
export type { Tree } from "./tree.ts";
export {
  childrenIn,
  delayOf,
  idleMs,
  type OpenChildren,
  WAIT_KINDS,
  type WaitKind,
  waitOf,
} from "./waiting.ts";
