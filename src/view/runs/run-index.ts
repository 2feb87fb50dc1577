import { type Decimal, readTimestamp } from "../../events/door.ts";
import type { ViewSpan } from "../format.ts";
import { textIn } from "../model/attributes.ts";
import { MOST_LISTED } from "../model/list-limits.ts";
import { addEstimateAbove, type CostEstimates, plusEstimate, setEstimate } from "./estimates.ts";
import { earlierFailure } from "./first-failure.ts";
import type { IndexedRow } from "./indexed-row.ts";
import {
  addTrace,
  clearSpans,
  type IndexedRun,
  isKnown,
  msOfNs,
  NO_USAGE,
  newRun,
  startAt,
  tracesOf,
} from "./indexed-run.ts";
import { LeftOutRuns, oldestRuns } from "./left-out-runs.ts";
import { addDecision, addWaits, endWaits } from "./open-waits.ts";
import { OtherRuns } from "./other-run-index.ts";
import { isOfOthers } from "./other-runs.ts";
import { usageAfter } from "./other-usage.ts";
import { ownText, withOwnTexts } from "./own-texts.ts";
import { Resumptions } from "./resumptions.ts";
import { decisionsOf, tenantOf, traitsOf, usageOf, waitsOf } from "./run-facts.ts";
import type { Arrival, RunIndexOptions } from "./run-index-options.ts";
import { isBefore } from "./run-log.ts";
import { storyAfter } from "./run-story.ts";
import { attach, plusUsage, runsAbove, setUsage } from "./run-trees.ts";
import { hasEnded, isPaused, storyOf } from "./stories.ts";
import { type Trace, Traces } from "./traces.ts";

/**
 * The newest runs. Spans and rows come in any order. If several sources have a run, the spans and rows of the source
 * with the highest standing count.
 */
export class RunIndex {
  /** Counts changes: it is the same as long as nothing has changed. */
  revision = 0;
  /** Revision of the last removal of a run that was none. Lists of earlier revisions must be read anew. */
  removedAt = 0;
  /** Begin of the oldest run of the list, Unix time in ns. `undefined` if none was left out. */
  oldest: bigint | undefined;
  readonly traces = new Traces();
  readonly others: OtherRuns;
  readonly #mostRuns: number;
  readonly #wanted: readonly (string | undefined)[];
  readonly #estimates: CostEstimates | undefined;
  /** By run ID: several tenants can have the same. */
  readonly #byId = new Map<string, IndexedRun[]>();
  readonly #leftOut = new LeftOutRuns();
  readonly #resumptions = new Resumptions({
    find: (tenantId, runId) => this.find(tenantId, runId),
    get: (tenantId, runId, namedAt) => this.#run(tenantId, runId, namedAt),
    touch: (run) => this.touch(run),
  });
  #size = 0;
  /** Above this size the index is cut while it is filled. */
  #cutAbove: number;
  #changed = false;
  #latest = 0n;

  constructor({ estimates, mostRuns = MOST_LISTED, readTrace, wanted }: RunIndexOptions = {}) {
    this.#estimates = estimates;
    this.others = new OtherRuns({
      readTrace: readTrace ?? (() => []),
      find: (trace) => this.find("", trace.id),
      make: (trace, start) => this.#run("", trace.id, start),
      remove: (trace) => this.#removeOther(trace),
      forgetSpans: (run) => this.#forgetSpans(run, 0),
      addSpan: (run, span, trace) => this.#addRunPart(run, span, trace),
      setUsage: (run, usage) => this.#setUsage(run, usage),
      touch: (run) => this.touch(run),
    });
    this.#mostRuns = mostRuns;
    this.#wanted = [wanted, wanted?.toLowerCase()];
    this.#cutAbove = mostRuns * CUT;
  }

  /** Runs with spans that were left out because they began before all others. */
  get leftOut(): number {
    return this.#leftOut.counted;
  }

  /** All runs in memory, in no order. */
  *runs(): Generator<IndexedRun> {
    for (const runs of this.#byId.values()) yield* runs;
  }

  /** The runs of all tenants with this ID. */
  named(runId: string): readonly IndexedRun[] {
    return this.#byId.get(runId) ?? [];
  }

  find(tenantId: string, runId: string): IndexedRun | undefined {
    return this.named(runId).find(({ tenant_id }) => tenant_id === tenantId);
  }

  findKey(key: string): IndexedRun | undefined {
    const slash = key.indexOf("/");
    const runs = this.named(slash < 0 ? key : key.slice(slash + 1));
    return runs.find((run) => run.key === key);
  }

  /**
   * Takes a span. Spans of left-out runs are ignored.
   *
   * @param standing of its source.
   */
  addSpan(
    span: ViewSpan,
    standing: number,
    { counted = false, isMade = false, source = 0 }: Arrival = {},
  ): void {
    const trace = this.traces.get(span.trace_id);
    const isOther = isOfOthers(span);
    if (!isMade || isOther) this.others.add(trace, span, { source, standing });
    if (!isOther) this.#own(trace);
    const isAround = span.vocabulary === undefined && isOther;
    if (span.run_id === undefined || isAround || (isOther && trace.hasOwnRun)) {
      if (isAround && !counted) this.traces.addOther(trace);
      trace.changedAt = this.revision + 1;
      this.#changed = true;
      return;
    }
    const tenant = isOther ? "" : tenantOf(span);
    const start = BigInt(span.start_ns);
    const run = this.#run(tenant, span.run_id, start);
    if (run === undefined) {
      if (this.#leftOut.count(tenant, span.run_id)) this.#changed = true;
      return;
    }
    if (standing < run.spanStanding) return;
    trace.changedAt = this.revision + 1;
    if (standing > run.spanStanding) this.#forgetSpans(run, standing);
    this.#addRunPart(run, span, trace, counted);
  }

  #addRunPart(run: IndexedRun, span: ViewSpan, trace: Trace, counted = false): void {
    const start = BigInt(span.start_ns);
    addTrace(run, trace, this.traces);
    if (!counted) run.spans += 1;
    run.story = withOwnTexts(storyAfter(run.story, span), run.story);
    if (isOfOthers(span)) {
      startAt(run, start);
      this.#setUsage(run, usageAfter(run.usage, span));
    } else {
      run.firstFailure = earlierFailure(run.firstFailure, span);
      this.#addOwnSpan(run, start, span);
    }
    const estimate = plusEstimate(run.estimated?.own, span, this.#estimates);
    if (estimate !== run.estimated?.own) this.#setEstimate(run, estimate);
    this.touch(run);
  }

  /** Takes a row. Rows of left-out runs are ignored. */
  addRow(row: IndexedRow): void {
    const { from, log, run_id, standing, tenant_id, to } = row;
    const run =
      this.find(tenant_id, run_id) ?? this.#run(tenant_id, run_id, this.#timeOf(row.timestamp));
    if (run === undefined || standing < run.rowStanding) return;
    if (standing === run.rowStanding && log !== run.log) return;
    const isFirst = standing > run.rowStanding;
    if (isFirst) {
      run.rowStanding = standing;
      run.log = log;
      run.rows = 0;
    }
    if (isFirst || isBefore(from, run.from)) run.from = from;
    if (isFirst || isBefore(run.to, to)) run.to = to;
    run.rows += 1;
    this.touch(run);
  }

  /** Marks a run as changed. */
  touch(run: IndexedRun): void {
    run.changedAt = this.revision + 1;
    this.#changed = true;
  }

  /** Marks the list as changed, but no run. */
  touchAll(): void {
    this.#changed = true;
  }

  /** Leaves out runs beyond the limit. @returns the present revision: later changes have a later one. */
  publish(): number {
    this.others.settle();
    if (!this.#changed) return this.revision;
    if (this.#size > this.#mostRuns) this.#cut();
    this.revision += 1;
    this.#changed = false;
    return this.revision;
  }

  /** Whether the list has the run, and it has changed since that revision. */
  isListed(run: IndexedRun, since: number): boolean {
    return run.changedAt > since && isKnown(run) && !run.isUnlisted;
  }

  /** A run, the paused runs that it continues, and those that continue it. */
  storyOf(run: IndexedRun): ReadonlySet<IndexedRun> {
    return storyOf(this, run);
  }

  /** The run with this name, a new one if there is none. `undefined` if it was left out. */
  #run(tenantId: string, runId: string, namedAt: bigint): IndexedRun | undefined {
    const runs = this.#byId.get(runId);
    const known = runs?.find((run) => run.tenant_id === tenantId);
    if (known !== undefined || this.#leftOut.has(tenantId, runId)) return known;
    const [run_id, tenant_id] = [ownText(runId), ownText(tenantId)];
    const isPlain = runs === undefined && !run_id.includes("/");
    const tenant = tenant_id.replaceAll("%", "%25").replaceAll("/", "%2F");
    const key = isPlain ? run_id : `${tenant}/${run_id}`;
    const run = newRun({ key, run_id, tenant_id, namedAt });
    if (runs === undefined) this.#byId.set(run_id, [run]);
    else runs.push(run);
    this.#size += 1;
    if (this.#size > this.#cutAbove) this.#cut();
    return run;
  }

  #addOwnSpan(run: IndexedRun, start: bigint, span: ViewSpan): void {
    addWaits(run, waitsOf(span));
    for (const { at, callId } of decisionsOf(span)) addDecision(run, callId, at);
    if (span.kind === "run") this.#addRunSpan(run, start, span);
    else {
      startAt(run, start);
      run.traits ??= traitsOf(span);
      this.#resumptions.began(run, span, start);
    }
  }

  /** The trace has a run of this package: spans of others in it belong to that run. */
  #own(trace: Trace): void {
    if (trace.hasOwnRun) return;
    trace.hasOwnRun = true;
    this.#removeOther(trace);
  }

  #removeOther(trace: Trace): void {
    const other = this.find("", trace.id);
    if (other === undefined) return;
    this.#remove(other);
    this.removedAt = this.revision + 1;
  }

  #addRunSpan(run: IndexedRun, start: bigint, span: ViewSpan): void {
    const { attributes } = span;
    const endBefore = run.start === 0n || run.traits === undefined ? undefined : run.end;
    const end = span.end_ns === null ? 0n : BigInt(span.end_ns);
    const follows = endBefore !== undefined && endBefore > 0n && start > endBefore;
    // A pause between segments is a wait for people as well. The time after a segment that was given up may be work.
    const paused = follows && isPaused(run);
    if (paused) {
      run.waitedMs += Number(start - endBefore) / 1e6;
      if (run.usage.whole) run.usageBefore = run.usage;
    }
    startAt(run, start);
    this.#resumptions.addRunSpan(run, span, start);
    const parentId = textIn(attributes, "entelix.parent_run_id");
    if (parentId !== undefined) {
      const parent = this.#run(run.tenant_id, parentId, start);
      if (parent === undefined) run.parentId ??= parentId;
      else if (attach(run, parent)) {
        addEstimateAbove(run);
        this.#resumptions.attached(run);
        this.touch(parent);
      }
    }
    // The span of an earlier segment came late: it has nothing new.
    const isOld = endBefore !== undefined && endBefore > start && end < endBefore;
    if (isOld && span.end_ns !== null) return;
    run.traits = traitsOf(span);
    if (hasEnded(run)) for (const next of run.resumedBy ?? []) this.touch(next);
    run.end = end;
    if (end === 0n) return;
    this.#resumptions.ended(run, span);
    const usage = usageOf(span);
    this.#setUsage(run, usage.whole ? plusUsage(run.usageBefore, usage) : usage);
    // A decision that took longer than the age limit began before this segment.
    const revived = follows && !paused;
    const waited = endWaits(run, {
      start: msOfNs(revived ? endBefore : start),
      end: msOfNs(end),
      begin: revived ? "revived" : paused ? "continued" : "anew",
    });
    run.waitedMs += waited.ms;
    run.waitedBeforeMs += waited.beforeMs;
  }

  #setUsage(run: IndexedRun, usage: IndexedRun["usage"]): void {
    setUsage(run, usage);
    for (const above of runsAbove(run)) this.touch(above);
  }

  #setEstimate(run: IndexedRun, own: Decimal | undefined): void {
    setEstimate(run, own);
    for (const above of runsAbove(run)) this.touch(above);
  }

  /** A better source has the run. */
  #forgetSpans(run: IndexedRun, standing: number): void {
    run.spanStanding = standing;
    if (!isKnown(run)) return;
    clearSpans(run);
    this.#setUsage(run, NO_USAGE);
    this.#setEstimate(run, undefined);
  }

  /** Leaves out the older half of the runs, and forgets traces without a run. */
  leaveOutHalf(): void {
    this.#cut(Math.ceil(this.#size / 2));
    this.traces.forgetOthers();
    this.#changed = true;
  }

  /** Leaves out the oldest runs beyond `most`, and the oldest of those that are only named. */
  #cut(most = this.#mostRuns): void {
    const runs = [...this.runs()];
    const wanted = this.#wantedRuns();
    // The run that is asked for may continue any paused one, until it has ended.
    const mayContinue = this.#wanted[0] !== undefined && ![...wanted].some(({ end }) => end > 0n);
    const isRetained = (run: IndexedRun) => this.#isWanted(run, wanted);
    const unlisted = runs.filter((run) => run.isUnlisted && !isRetained(run));
    for (const run of mayContinue ? oldestRuns(unlisted, most).excess : unlisted) {
      this.#leaveOut(run);
    }
    const listed = runs.filter(({ isUnlisted }) => !isUnlisted);
    const { excess, oldest } = oldestRuns(listed, most);
    for (const run of excess) {
      if ((mayContinue && isPaused(run)) || isRetained(run)) run.isUnlisted = true;
      else this.#leaveOut(run);
    }
    if (oldest !== undefined) this.oldest = oldest;
    this.#cutAbove = Math.max(this.#size, this.#mostRuns) * CUT;
  }

  #remove(run: IndexedRun): void {
    const runs = this.#byId.get(run.run_id) ?? [];
    if (runs.length === 1) this.#byId.delete(run.run_id);
    else runs.splice(runs.indexOf(run), 1);
    this.#size -= 1;
    for (const trace of tracesOf(run)) this.traces.removeRun(trace);
    this.#resumptions.unlink(run);
    // Its child runs may be retained, and must not retain the runs above it.
    run.parent = undefined;
  }

  #leaveOut(run: IndexedRun): void {
    this.#remove(run);
    this.#leftOut.add(run.tenant_id, run.run_id, isKnown(run));
    this.#changed = true;
  }

  /** The runs with the wanted ID, and those before and after their pauses. */
  #wantedRuns(): ReadonlySet<IndexedRun> {
    const named = this.#wanted.flatMap((id) => (id === undefined ? [] : this.named(id)));
    return new Set(named.flatMap((run) => [...this.storyOf(run)]));
  }

  #isWanted(run: IndexedRun, wanted: ReadonlySet<IndexedRun>): boolean {
    if (wanted.has(run)) return true;
    for (const above of runsAbove(run)) if (wanted.has(above)) return true;
    return false;
  }

  /** Unix time in ns of a row; that of the row before if it has none. */
  #timeOf(timestamp: string | undefined): bigint {
    const at = timestamp === undefined ? undefined : readTimestamp(timestamp);
    if (at !== undefined) this.#latest = BigInt(at[0]) * 1_000_000_000n + BigInt(at[1]);
    return this.#latest;
  }
}

/** The index is cut when it has grown by a tenth: a cut looks at all runs. */
const CUT = 1.1;
