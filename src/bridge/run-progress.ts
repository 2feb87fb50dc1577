import { type Attributes, type Context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import {
  type Instant,
  isSpanTime,
  type KnownAttributes,
  type LogEvent,
  millisecondsBetween,
  now,
  type RunEnd,
} from "../events/door.ts";
import type { Run, RunObserver } from "./lifecycle/door.ts";
import { failureKindOf } from "./metrics/run-outcomes.ts";
import type { OpenRun, OpenRunsOptions } from "./open-runs.ts";
import type { LoggerLike, ProgressOptions } from "./progress-options.ts";
import type { Reporter } from "./report.ts";
import { SCOPE } from "./scope.ts";
import { nameIn } from "./spans/span-ends.ts";
import { SpanHandle } from "./spans/span-handle.ts";
import type { SpanSubject } from "./spans/subject.ts";

/** Default interval of the records of an open run, in ms. */
const USUAL_MS = 30_000;

/** Maximum number of records at one interval. A batch processor of logs holds 2,048 by default. */
export const MOST_RECORDS = 1_000;

/** Failures have spans and alerts, so no record needs a higher severity. */
const INFO = { severityNumber: 9, severityText: "INFO" } as const;

/** The part of the bridge that is used here. */
interface RunSource {
  readonly reporter: Reporter;
  readonly subject: SpanSubject;
  readonly lifecycle: { readonly runs: { readonly openRuns: number } };
  openRuns(options: OpenRunsOptions, at: Instant): readonly OpenRun[];
  find(tenantId: string, runId: string): Run<SpanHandle> | undefined;
}

/** @returns `undefined` without the option `progress`, and in a replay. */
export function progressOf(
  {
    mode,
    progress,
  }: { readonly mode?: string | undefined; readonly progress?: ProgressOptions | undefined },
  source: RunSource,
): RunProgress | undefined {
  return progress === undefined || mode === "replay"
    ? undefined
    : new RunProgress(progress, source);
}

/**
 * Writes log records about runs: one at the start, one at each interval, one at the end. They depend on
 * the clock of this process, so spans do not contain them, and a replay makes none.
 *
 * It has one timer, which does not keep the process alive, and no state of runs. It never throws.
 */
export class RunProgress implements RunObserver {
  /** Records that were left out because too many runs were open. */
  leftOut = 0;
  readonly #options: ProgressOptions;
  readonly #source: RunSource;
  readonly #everyMs: number;
  readonly #timer: NodeJS.Timeout;
  #logger: LoggerLike | undefined;

  constructor(options: ProgressOptions, source: RunSource) {
    this.#options = options;
    this.#source = source;
    this.#everyMs = options.everyMs ?? USUAL_MS;
    this.#timer = setInterval(() => this.#look(), this.#everyMs);
    this.#timer.unref();
  }

  runOpened(run: Run<unknown>): void {
    this.#emit(
      "entelix.run.start",
      run.startedAt,
      contextOf(run),
      "run started",
      this.#segmentOf(run),
    );
  }

  runNamed(): void {}

  runResumed(): void {}

  runClosed(run: Run<unknown>, at: Instant, end: RunEnd): void {
    const { outcome } = end;
    this.#emit("entelix.run.end", at, contextOf(run), `run ended: ${outcome}`, {
      ...this.#segmentOf(run),
      "entelix.run.outcome": outcome,
      "entelix.failure.kind": outcome === "failed" ? failureKindOf(end.kind) : undefined,
      "entelix.run.abandoned_reason": outcome === "abandoned" ? end.reason : undefined,
      "entelix.run.age_ms": Math.max(0, Math.round(millisecondsBetween(run.startedAt, at))),
      ...usageOf(run),
    });
  }

  callDecided(): void {}

  callEnded(): void {}

  loopFound(): void {}

  modelEnded(): void {}

  /** Stops the records at intervals. Ends of runs still have records. */
  close(): void {
    clearInterval(this.#timer);
  }

  /** The attributes that identify the run, in every record. */
  #subjectOf(run: Run<unknown>): KnownAttributes {
    return {
      "entelix.run_id": run.runId,
      "entelix.tenant_id": run.tenantId,
      "entelix.parent_run_id": run.parentRunId,
      "gen_ai.agent.name": nameIn(run.agent),
      "gen_ai.conversation.id": this.#source.subject.conversationOf(run),
    };
  }

  /** The same, with the segment that begins or ends. */
  #segmentOf(run: Run<unknown>): KnownAttributes {
    const { segment } = run;
    return {
      ...this.#subjectOf(run),
      "entelix.run.segment": segment === 1 ? undefined : segment,
    };
  }

  #look(): void {
    const { lifecycle, reporter } = this.#source;
    try {
      const at = now();
      // The longest idle runs come first, so the runs left out had an event more recently.
      for (const open of this.#source.openRuns({ limit: MOST_RECORDS }, at)) {
        // A younger run has just had its start record.
        if (open.ageMs >= this.#everyMs) this.#emitOpen(open, at);
      }
      this.leftOut += Math.max(0, lifecycle.runs.openRuns - MOST_RECORDS);
    } catch (error) {
      reporter.report(error, "progress");
    }
  }

  #emitOpen(open: OpenRun, at: Instant): void {
    const { waitsFor } = open;
    const run = this.#source.find(open.tenantId, open.runId);
    if (run === undefined) return;
    const idle = Math.round(open.idleMs / 1000);
    const body = `run open: waits for ${waitsFor.kind}, no event for ${idle} s`;
    this.#emit("entelix.run.progress", at, contextOf(run), body, {
      ...this.#subjectOf(run),
      "entelix.run.age_ms": Math.round(open.ageMs),
      "entelix.run.idle_ms": Math.round(open.idleMs),
      "entelix.run.waits_for": waitsFor.kind,
      "entelix.run.waits_for_name": nameIn(waitsFor.name),
      "entelix.run.waits_for_ms": Math.round(waitsFor.sinceMs),
      ...usageOf(run),
    });
  }

  #emit(
    eventName: LogEvent,
    at: Instant,
    context: Context,
    body: string,
    known: KnownAttributes,
  ): void {
    try {
      // The SDK of logs would export `undefined` as an attribute without a value.
      const attributes: Attributes = {};
      for (const [name, value] of Object.entries(known)) {
        if (value !== undefined) attributes[name] = value;
      }
      this.#logger ??= this.#options.loggerProvider.getLogger(...SCOPE);
      const timestamp = isSpanTime(at) ? { timestamp: at } : {};
      this.#logger.emit({ eventName, ...timestamp, ...INFO, body, attributes, context });
    } catch (error) {
      this.#source.reporter.report(error, "progress");
    }
  }
}

/** Usage of the run's model calls so far. */
function usageOf({ used }: Run<unknown>): KnownAttributes {
  return {
    "entelix.run.input_tokens": used?.inputTokens,
    "entelix.run.output_tokens": used?.outputTokens,
    "entelix.run.cost": used?.cost,
  };
}

/** A context with the span of the run, which gives the record its trace ID and span ID. */
function contextOf({ handle, spanId, traceId }: Run<unknown>): Context {
  const own = { traceId, spanId, traceFlags: 0 };
  return trace.setSpanContext(
    ROOT_CONTEXT,
    handle instanceof SpanHandle ? handle.spanContext : own,
  );
}
