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
import { VERSION } from "../version.ts";
import type { Run } from "./lifecycle/run.ts";
import type { RunObserver } from "./lifecycle/run-observer.ts";
import { failureKindOf } from "./metrics/run-outcomes.ts";
import type { OpenRun, OpenRunsOptions } from "./open-runs.ts";
import type { LoggerLike, ProgressOptions } from "./progress-options.ts";
import type { Reporter } from "./report.ts";
import { nameIn } from "./spans/span-ends.ts";
import { SpanHandle } from "./spans/span-handle.ts";

/** Time between two records of an open run, in ms, unless the option says otherwise. */
const USUAL_MS = 30_000;

/** Most records of one look at the open runs: a batch processor of logs holds 2,048 by default. */
export const MOST_RECORDS = 1_000;

/** INFO: an open run, and its end, is news and no trouble. Failures have their spans and alerts. */
const INFO = { severityNumber: 9, severityText: "INFO" } as const;

/** What it needs of the bridge. */
interface RunSource {
  readonly reporter: Reporter;
  readonly lifecycle: { readonly runs: { readonly openRuns: number } };
  openRuns(options: OpenRunsOptions, at: Instant): readonly OpenRun[];
  find(tenantId: string, runId: string): Run<SpanHandle> | undefined;
}

/** @returns `undefined` where nobody asked for it, and in a replay. */
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
 * Says in log records how runs go: one at the start, one at each interval, one at the end. They go by
 * this process's clock, so nothing of them is on a span, and a replay makes none.
 *
 * It has one timer, which keeps no process alive, and holds nothing of a run. It never throws.
 */
export class RunProgress implements RunObserver {
  /** Open runs that had no record at an interval, because there were too many. */
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
    this.#emit("entelix.run.start", run.startedAt, contextOf(run), "run started", segmentOf(run));
  }

  runNamed(): void {}

  runResumed(): void {}

  runClosed(run: Run<unknown>, at: Instant, end: RunEnd): void {
    const { outcome } = end;
    this.#emit("entelix.run.end", at, contextOf(run), `run ended: ${outcome}`, {
      ...segmentOf(run),
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

  /** No further looks. Ends of runs still have their records. */
  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { lifecycle, reporter } = this.#source;
    try {
      const at = now();
      // Those that were silent longest come first: what is left out had an event more recently.
      for (const open of this.#source.openRuns({ limit: MOST_RECORDS }, at)) {
        // Else it has just had its start.
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
      ...subjectOf(run),
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
      // The SDK of logs would export what is `undefined` as an attribute without a value.
      const attributes: Attributes = {};
      for (const [name, value] of Object.entries(known)) {
        if (value !== undefined) attributes[name] = value;
      }
      this.#logger ??= this.#options.loggerProvider.getLogger("entelix-otel", VERSION);
      const timestamp = isSpanTime(at) ? { timestamp: at } : {};
      this.#logger.emit({ eventName, ...timestamp, ...INFO, body, attributes, context });
    } catch (error) {
      this.#source.reporter.report(error, "progress");
    }
  }
}

/** Whose run it is, in every record. */
function subjectOf(run: Run<unknown>): KnownAttributes {
  return {
    "entelix.run_id": run.runId,
    "entelix.tenant_id": run.tenantId,
    "entelix.parent_run_id": run.parentRunId,
    "gen_ai.agent.name": nameIn(run.agent),
    "gen_ai.conversation.id": run.threadId,
  };
}

/** The same with the segment that begins or ends. */
function segmentOf(run: Run<unknown>): KnownAttributes {
  const { segment } = run;
  return { ...subjectOf(run), "entelix.run.segment": segment === 1 ? undefined : segment };
}

/** What its model calls used so far. */
function usageOf({ used }: Run<unknown>): KnownAttributes {
  return {
    "entelix.run.input_tokens": used?.inputTokens,
    "entelix.run.output_tokens": used?.outputTokens,
    "entelix.run.cost": used?.cost,
  };
}

/** A context with the span of the run: it gives the record its trace and span id. */
function contextOf({ handle, spanId, traceId }: Run<unknown>): Context {
  const own = { traceId, spanId, traceFlags: 0 };
  return trace.setSpanContext(
    ROOT_CONTEXT,
    handle instanceof SpanHandle ? handle.spanContext : own,
  );
}
