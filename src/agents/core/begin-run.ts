import { v7 as uuidv7 } from "uuid";
import { sourceMoment } from "../../events/door.ts";
import type { ActiveRun } from "../runtime/door.ts";
import { type Beginning, type RunRef, RunWriter, type ToolCall } from "../writer/door.ts";
import { askedSubject } from "./hooks.ts";
import type { KnownPause } from "./paused-runs.ts";
import type { SafeSink } from "./safe-sink.ts";
import { UsageTotals } from "./usage-totals.ts";

/** What a run takes over from the run around it. */
type OuterRun = { readonly [K in "rootRunId" | "threadId" | "subject"]?: ActiveRun[K] | undefined };

/** Where a run begins. */
export interface RunOrigin {
  /** Default: a new one. */
  readonly runId?: string | undefined;
  readonly tenantId: string;
  /** The thread that the framework or the application names. Default: that of the outer or of the paused run. */
  readonly threadId?: string | undefined;
  /** The run around it, with the call or step that begins it. It has the same tenant. */
  readonly outer?: OuterRun | undefined;
  /** The run that it resumes. It has the same tenant. */
  readonly paused?: KnownPause | undefined;
  /** Calls the hook `context`. Default: the subject is that of the outer or of the paused run. */
  readonly ask?: (() => unknown) | undefined;
  /** Totals that the outer run shares. Default: new ones. */
  readonly totals?: UsageTotals | undefined;
}

/**
 * A run that has begun.
 *
 * @typeParam C its open tool calls.
 */
export interface BegunRun<C extends ToolCall = ToolCall> {
  readonly writer: RunWriter<void, C>;
  /** The current run for code inside it. */
  readonly active: ActiveRun;
  /** Usage of the run and the runs inside it. */
  readonly totals: UsageTotals;
  /** Its start, for finding the source of an error. */
  readonly since: number;
}

/** Thread and subject of a run. Default: those of the outer run, else those of the paused run. */
export function inheritedBy(
  { ask, outer, paused, threadId }: Omit<RunOrigin, "tenantId">,
  onError: (error: unknown) => void,
) {
  return {
    threadId: threadId ?? outer?.threadId ?? paused?.threadId,
    subject: askedSubject(ask, outer?.subject ?? paused?.subject, onError, paused !== undefined),
  };
}

/** The identity of a run that begins. */
export function newRunRef(origin: RunOrigin, onError: (error: unknown) => void): RunRef {
  const { outer, runId = uuidv7(), tenantId } = origin;
  const { subject, threadId } = inheritedBy(origin, onError);
  return { runId, tenantId, rootRunId: outer?.rootRunId ?? runId, threadId, subject };
}

/** Prepares a run, without an event. */
export function beginRun<C extends ToolCall = ToolCall>(
  origin: RunOrigin,
  sink: SafeSink,
  onError: (error: unknown) => void,
): BegunRun<C> {
  const ref = newRunRef(origin, onError);
  const { outer, totals = new UsageTotals() } = origin;
  return {
    writer: new RunWriter<void, C>(sink, ref, { totals: outer === undefined ? totals : undefined }),
    active: { ...ref, sink: sink.sink },
    totals,
    since: sourceMoment(),
  };
}

type Place = Pick<Beginning, "parentRunId" | "parentToolUseId" | "parentCallKey" | "parentStepId">;

/** The place of a run inside another one. Without a current call, `parentToolUseId` is `null`. */
export function placeIn(outer: ActiveRun | undefined): Place | undefined {
  if (outer === undefined) return undefined;
  return {
    parentRunId: outer.runId,
    parentToolUseId: outer.toolUseId ?? null,
    parentCallKey: outer.callKey,
    parentStepId: outer.stepId,
  };
}
