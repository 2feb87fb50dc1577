import type { ConflictHook } from "../../../src/bridge/lifecycle/counters.ts";
import { Lifecycle } from "../../../src/bridge/lifecycle/lifecycle.ts";
import { type LifecycleLimits, resolveLimits } from "../../../src/bridge/lifecycle/limits.ts";
import type { Outcome } from "../../../src/bridge/lifecycle/outcome.ts";
import type { ParentContext, RunOwner } from "../../../src/bridge/lifecycle/parent-context.ts";
import type { Instant } from "../../../src/entries/events.ts";
import {
  type CallResult,
  type ModelEnd,
  type ModelOpening,
  type RunEnd,
  resolveLoopLimits,
  type Signal,
  type SignalSubject,
  type StepEnd,
  type StepOpening,
} from "../../../src/events/door.ts";
import { FakeDriver } from "./fake-driver.ts";

/** What a signal says, without of which run and when. */
export type SignalKind = Signal extends infer S
  ? S extends Signal
    ? Omit<S, keyof SignalSubject>
    : never
  : never;

/** A lifecycle that takes entelix's signals one to a call, each as an event of its own. */
export class TestLifecycle extends Lifecycle<string> {
  /** What is known of the parents of the runs to come. */
  parentContext: ParentContext<string> | undefined = undefined;
  owner: RunOwner | undefined = undefined;
  /** Whether the events to come have an id. */
  identified = false;
  last: Outcome<string> | undefined = undefined;

  constructor(
    driver = new FakeDriver(),
    limits: Partial<LifecycleLimits> = {},
    onTenantConflict?: ConflictHook,
    followsSteps?: boolean,
  ) {
    super(
      driver,
      { ...resolveLimits(limits), loops: resolveLoopLimits(undefined) },
      onTenantConflict,
      followsSteps,
    );
  }

  /** @returns false when the event has come before. */
  begin(tenantId: string, eventId: string): boolean {
    this.identified = true;
    return !this.seen.isRepeat(tenantId, eventId);
  }

  say(signal: Signal): boolean {
    this.counters.events++;
    const { identified } = this;
    const context = {
      identified,
      parentContext: () => this.parentContext,
      owner: () => this.owner,
    };
    this.last = this.apply(signal, context);
    return this.last.taken;
  }

  startRun(tenantId: string, runId: string, at: Instant, agent: string, parentRunId?: string) {
    const originInEnvelope = true;
    return this.say({
      signal: "run_opens",
      tenantId,
      runId,
      at,
      agent,
      parentRunId,
      originInEnvelope,
    });
  }

  endRun(tenantId: string, runId: string, at: Instant, end: RunEnd) {
    return this.say({ signal: "run_closes", tenantId, runId, at, end });
  }

  startCall(tenantId: string, runId: string, at: Instant, callId: string, name = "f") {
    return this.say({ signal: "call_opens", tenantId, runId, at, callId, name, content: {} });
  }

  endCall(
    tenantId: string,
    runId: string,
    at: Instant,
    callId: string,
    name = "f",
    durationMs = 0,
    end: CallResult = { outcome: "complete", content: "ok" },
  ) {
    return this.say({
      signal: "call_closes",
      tenantId,
      runId,
      at,
      callId,
      name,
      durationMs,
      end,
    });
  }

  approveCall(tenantId: string, runId: string, at: Instant, callId: string, name = "f") {
    const beforeStart = true;
    return this.say({ signal: "call_approved", tenantId, runId, at, callId, name, beforeStart });
  }

  denyCall(tenantId: string, runId: string, at: Instant, callId: string, name = "f") {
    const [beforeStart, content] = [true, "no"];
    return this.say({
      signal: "call_denied",
      tenantId,
      runId,
      at,
      callId,
      name,
      content,
      beforeStart,
    });
  }

  startModelCall(
    tenantId: string,
    runId: string,
    at: Instant,
    modelCallId: string,
    opening: ModelOpening = {},
  ) {
    return this.say({ ...opening, signal: "model_opens", tenantId, runId, at, modelCallId });
  }

  endModelCall(
    tenantId: string,
    runId: string,
    at: Instant,
    modelCallId: string,
    durationMs = 0,
    end: ModelEnd = { outcome: "complete" },
  ) {
    return this.say({
      signal: "model_closes",
      tenantId,
      runId,
      at,
      modelCallId,
      durationMs,
      end,
    });
  }

  startStep(runId: string, at: Instant, stepId: string, opening: Partial<StepOpening> = {}) {
    const step = { tenantId: "acme", runId, at, stepId, name: stepId, ...opening };
    return this.say({ signal: "step_opens", ...step });
  }

  endStep(
    runId: string,
    at: Instant,
    stepId: string,
    durationMs = 0,
    end: StepEnd = { outcome: "complete" },
    opening: Partial<StepOpening> = {},
  ) {
    const step = { tenantId: "acme", runId, at, stepId, name: stepId, ...opening };
    return this.say({ signal: "step_closes", ...step, durationMs, end });
  }
}
