import {
  type AbandonedReason,
  addMilliseconds,
  closedTrail,
  compareInstants,
  type Instant,
  RecentMap,
  type RunEnd,
  type SignalSubject,
  tenantKey,
} from "../../events/door.ts";
import type { CallIdBudget } from "./call-history.ts";
import type { CallKeeper } from "./call-keeper.ts";
import type { Counters } from "./counters.ts";
import type { LifecycleLimits } from "./limits.ts";
import type { ModelKeeper } from "./model-keeper.ts";
import { type Link, type RunOrigin, type SignalContext, withOrigin } from "./parent-context.ts";
import { findParent, linkToLateParent } from "./parents.ts";
import type { KeeperOptions } from "./part-keeper.ts";
import { Run } from "./run.ts";
import { RunAges, type TimeSource } from "./run-ages.ts";
import type { RunObserver } from "./run-observer.ts";
import { RunTable } from "./run-table.ts";
import type { SpanDriver } from "./span-driver.ts";
import type { StepKeeper } from "./step-keeper.ts";
import { TenantLoadHeap } from "./tenant-load.ts";
import { Forest, Tree } from "./tree.ts";

export interface RunKeeperOptions<H> extends KeeperOptions<H> {
  /** They close the open parts of a run that ends. */
  readonly calls: CallKeeper<H>;
  readonly models: ModelKeeper<H>;
  readonly steps: StepKeeper<H>;
}

/** Opens, reopens, closes and abandons runs. Finds their parents and applies limits. */
export class RunKeeper<H> {
  readonly #calls: CallKeeper<H>;
  readonly #models: ModelKeeper<H>;
  readonly #steps: StepKeeper<H>;
  readonly #driver: SpanDriver<H>;
  readonly #counters: Counters;
  readonly #limits: LifecycleLimits;
  readonly #runs: RunTable<H>;
  readonly #forest: Forest<H>;
  readonly #ages: RunAges<H>;
  readonly #load = new TenantLoadHeap();
  readonly #budget: CallIdBudget;
  /** The last interrupted run of each thread, until the thread's next run starts. */
  readonly #interrupted: RecentMap<H>;
  #openRuns = 0;
  /** Number of open runs whose calls are not followed. */
  quietRuns = 0;
  /** See `Lifecycle.observe`. */
  observer: RunObserver | undefined = undefined;

  constructor({ driver, counters, limits, calls, models, steps, budget }: RunKeeperOptions<H>) {
    this.#driver = driver;
    this.#counters = counters;
    this.#limits = limits;
    this.#calls = calls;
    this.#models = models;
    this.#steps = steps;
    this.#budget = budget;
    this.#runs = new RunTable(limits.closedRuns, budget, driver);
    this.#interrupted = new RecentMap(limits.closedRuns);
    this.#forest = new Forest(counters);
    const { maxAgeMs } = limits;
    const abandon = (tree: Tree<H>) => this.#abandonTree(tree, "age");
    this.#ages = new RunAges({ forest: this.#forest, counters, maxAgeMs, abandon });
  }

  get openRuns(): number {
    return this.#openRuns;
  }

  /** All trees with open runs, the longest-idle first. */
  openTrees(): Iterable<Tree<H>> {
    return this.#forest.trees();
  }

  get forgottenCallIds(): number {
    return this.#budget.forgotten;
  }

  /** The canonical form of a run ID. */
  canonical(runId: string): string {
    return this.#runs.canonical(runId);
  }

  /** The tenant's run, open or closed and in memory. */
  find(tenantId: string, runId: string): Run<H> | undefined {
    // Untyped programs may not know the run.
    if (typeof runId !== "string") return undefined;
    const run = this.#runs.find(tenantId, runId);
    if (run !== undefined) return run;
    const canonical = this.canonical(runId);
    return canonical === runId ? undefined : this.#runs.find(tenantId, canonical);
  }

  /** The run of an event. Closes it first if it was idle for longer than the age limit. */
  findOf({ tenantId, runId }: Pick<SignalSubject, "tenantId" | "runId">): Run<H> | undefined {
    const run = this.find(tenantId, runId);
    if (run?.open === true) this.#ages.closeIfIdle(run.tree);
    return run;
  }

  /** The tenant's run of this id, if it is the first open one of the id. */
  findFirstOpen(tenantId: string, runId: string): Run<H> | undefined {
    return this.#runs.findFirstOpen(tenantId, runId);
  }

  /** Creates a run, not open yet. Its IDs are derived from its run ID, or hashed in a conflict of tenants. */
  create(tenantId: string, runId: string, at: Instant): Run<H> {
    const { ids, conflict } = this.#runs.identify(tenantId, runId);
    if (conflict) this.#counters.tenantConflict(tenantId);
    return new Run(tenantId, runId, ids, at, new Tree<H>(at));
  }

  /** Opens a run whose start was not seen, at its first known time. */
  openUnseen(tenantId: string, runId: string, from: Instant, event: SignalContext<H>): Run<H> {
    const run = this.create(tenantId, this.canonical(runId), from);
    run.startUnseen = true;
    this.#counters.adjustments.unseen_starts++;
    this.open(run, from, event);
    return run;
  }

  /**
   * Opens a new run: finds its parent, and links it to the run that it resumes.
   *
   * @param origin from the dialect; overrides the envelope.
   */
  open(run: Run<H>, at: Instant, event: SignalContext<H>, origin?: RunOrigin): void {
    if (run.parentRunId !== undefined)
      this.findOf({ tenantId: run.tenantId, runId: run.parentRunId });
    const asked = event.parentContext();
    const context = origin === undefined ? asked : withOrigin(origin, asked);
    const links: Link<H>[] = [];
    if (context !== undefined) run.threadId = context.threadId;
    run.owner = event.owner();
    const parent = findParent(run, context, links, this.#runs, this.#driver, this.#counters);
    run.parentHandle = parent;
    this.#linkToResumed(run, context?.resumedFromRunId, links);
    this.#runs.add(run);
    this.#enter(run, at, links);
  }

  /** Opens the span of the run's segment and counts it among the open runs. */
  #enter(run: Run<H>, at: Instant, links: readonly Link<H>[]): void {
    this.#openRuns++;
    this.#load.opened(run);
    this.#forest.add(run, at);
    const parent = run.parent;
    if (parent !== undefined) {
      parent.openChildren++;
      this.touch(parent, at);
      if (run.resumedFromRunId !== undefined) this.#calls.childContinued(run, at);
    }
    this.#counters.spansOpened++;
    run.followsCalls = true;
    run.handle = this.#driver.openRun(
      run,
      at,
      run.parentHandle,
      links.length === 0 ? undefined : links,
    );
    this.observer?.runOpened(run);
    run.followsCalls = this.observer !== undefined || this.#driver.followsCalls(run);
    if (!run.followsCalls) this.quietRuns++;
    if (this.#openRuns > this.#limits.openRuns) this.#evictOne(run);
  }

  /**
   * Opens the next segment of a closed run, with a link to the segment before.
   *
   * @param started whether a `started` opens it.
   */
  reopen(run: Run<H>, at: Instant, event: SignalContext<H>, started: boolean): void {
    this.#runs.recall(run);
    run.owner = event.owner() ?? run.owner;
    const links: Link<H>[] =
      run.handle === undefined ? [] : [{ kind: "previous_segment", to: run.handle }];
    // The pause is over, so the thread's next run does not resume it.
    if (
      run.threadId !== undefined &&
      this.#interrupted.get(tenantKey(run.tenantId, run.threadId)) === run.handle
    ) {
      this.#interrupted.delete(tenantKey(run.tenantId, run.threadId));
    }
    run.open = true;
    run.outcome = undefined;
    run.supposedAt = undefined;
    run.segment++;
    run.startSeen = started;
    const { approvedCalls, deniedCalls, toolCalls, toolErrors } = run;
    run.before = { approvedCalls, deniedCalls, toolCalls, toolErrors };
    run.callTrail = undefined;
    run.inferences = 0;
    run.startedAt = at;
    run.lastAt = at;
    if (run.tree.first === undefined) run.tree = new Tree<H>(at);
    this.#enter(run, at, links);
  }

  /** Adds the data of a `started` that arrived after another event had opened the run. */
  completeStart(
    run: Run<H>,
    agent: string | undefined,
    parentRunId: string | undefined,
    event: SignalContext<H>,
  ): void {
    run.agent = agent;
    const links: Link<H>[] = [];
    const context = event.parentContext();
    if (parentRunId !== undefined) {
      run.parentRunId = parentRunId;
      linkToLateParent(run, parentRunId, context, links, this.#runs, this.#driver, this.#counters);
    }
    run.threadId ??= context?.threadId;
    run.owner ??= event.owner();
    this.#linkToResumed(run, context?.resumedFromRunId, links);
    this.observer?.runNamed(run);
    this.#driver.completeRun(run, links);
  }

  #linkToResumed(run: Run<H>, resumedFromRunId: string | undefined, links: Link<H>[]): void {
    const id = resumedFromRunId === undefined ? undefined : this.canonical(resumedFromRunId);
    if (id !== undefined && id !== run.runId && run.resumedFromRunId === undefined) {
      run.resumedFromRunId = id;
      links.push(this.resumedFrom(run, id));
    }
    if (run.threadId === undefined || !run.root || this.#interrupted.isEmpty) return;
    const last = this.#interrupted.get(tenantKey(run.tenantId, run.threadId));
    if (last === undefined) return;
    this.#interrupted.delete(tenantKey(run.tenantId, run.threadId));
    if (run.resumedFromRunId === undefined) links.push({ kind: "after_interrupted", to: last });
  }

  /**
   * The link to the run that this one resumes. Its IDs are derived if it is not known.
   *
   * @param resumedFromRunId in canonical form.
   */
  resumedFrom(run: Run<H>, resumedFromRunId: string): Link<H> {
    const known = this.#runs.find(run.tenantId, resumedFromRunId)?.handle;
    if (known !== undefined) return { kind: "resumed_from", to: known };
    const { ids } = this.#runs.identify(run.tenantId, resumedFromRunId);
    return { kind: "resumed_from", to: this.#driver.derived(ids.traceId, ids.spanId) };
  }

  /** Links a run to the one that it resumes, if that became known after the start. */
  linkResumed(tenantId: string, runId: string, resumedFromRunId: string): void {
    const run = this.find(tenantId, runId);
    if (run === undefined || !run.open || run.resumedFromRunId !== undefined) return;
    const resumedFrom = this.canonical(resumedFromRunId);
    if (resumedFrom === run.runId) return;
    run.resumedFromRunId = resumedFrom;
    this.#calls.childContinued(run, run.lastAt);
    this.observer?.runResumed(run, resumedFrom);
    this.#driver.linkResumed(run, this.resumedFrom(run, resumedFrom));
  }

  /** Ends an open run by an event. The end of a child is activity of its tree. */
  end(run: Run<H>, at: Instant, end: RunEnd): void {
    if (run.parent !== undefined) this.touch(run, at);
    this.close(run, at, end, true);
  }

  close(run: Run<H>, asked: Instant, end: RunEnd, byEvent = false): void {
    const at = this.#counters.notBefore(run.startedAt, asked);
    this.#models.closeAll(run, at);
    this.#calls.closeAll(run, at, end);
    this.#steps.closeAll(run, at);
    run.open = false;
    run.mayEnd = undefined;
    run.outcome = end.outcome;
    run.approvals = undefined;
    run.callTrail = closedTrail(run.callTrail, end.outcome);
    this.#forest.remove(run);
    this.#openRuns--;
    if (this.#openRuns * 2 < this.#limits.openRuns) {
      this.#load.rest();
      this.#forest.rest();
    } else this.#load.closed(run);
    if (!run.followsCalls) this.quietRuns--;
    if (run.parent !== undefined) {
      run.parent.openChildren--;
      if (compareInstants(at, run.parent.lastAt) > 0) run.parent.lastAt = at;
      if (end.outcome === "interrupted") this.#calls.childPaused(run, at);
      // So that a closed run does not keep its ancestors in memory.
      run.parent = undefined;
    }
    if (end.outcome === "interrupted" && run.threadId !== undefined && run.handle !== undefined) {
      this.#interrupted.set(tenantKey(run.tenantId, run.threadId), run.handle);
    }
    if (this.#runs.remember(run)) this.#counters.adjustments.forgotten_runs++;
    this.observer?.runClosed(run, at, end);
    // Last, so that the run is closed even if the driver throws.
    this.#driver.closeRun(run, at, end, byEvent);
  }

  /**
   * Closes an open run without a terminal event. Its outcome is its presumed end, else `abandoned`.
   *
   * @param at default: its last activity.
   */
  abandon(run: Run<H>, reason: AbandonedReason, at: Instant = run.lastAt): void {
    if (!run.open) return;
    const { mayEnd } = run;
    if (mayEnd !== undefined) {
      const { end, model } = mayEnd;
      if (end.outcome === "interrupted" || mayEnd.over !== true) run.supposedAt = mayEnd.at;
      if (model !== undefined) {
        this.#models.close(run, "", model.at, {
          outcome: "complete",
          attributes: model.attributes,
        });
      }
      this.close(run, mayEnd.at, end);
    } else this.close(run, at, { outcome: "abandoned", reason });
  }

  /** Time of the current event. Replay only. */
  set eventAt(at: Instant) {
    this.#ages.eventAt = at;
  }

  /** Advances the time, and closes trees that were idle for longer than the age limit. */
  tick(now: Instant, source: TimeSource): void {
    this.#ages.tick(now, source);
  }

  /** Exports a marker span for each run that has been open for `markerAfterMs`. Live only. */
  markOpenRuns(now: Instant): void {
    if (this.#limits.markerAfterMs === 0) return;
    const before = addMilliseconds(now, -this.#limits.markerAfterMs);
    for (let tree = this.#forest.first; tree !== undefined; tree = tree.next) {
      for (let run = tree.first; run !== undefined; run = run.next) {
        if (run.marked || compareInstants(run.startedAt, before) > 0) continue;
        run.marked = true;
        this.#driver.mark(run, run.startedAt);
      }
    }
  }

  /** Closes every open run, children before parents. Default of `at`: each run's last activity. */
  abandonAll(reason: AbandonedReason, at?: Instant): void {
    this.#ages.end();
    for (let tree = this.#forest.first; tree !== undefined; tree = this.#forest.first) {
      this.#abandonTree(tree, reason, at);
    }
  }

  /** Records activity of an open run. */
  touch(run: Run<H>, at: Instant): void {
    if (run.open) this.#forest.touch(run, at);
  }

  /** Closes the longest-idle run of the tenant with the most open runs. */
  #evictOne(newcomer: Run<H>): void {
    const tenant = this.#load.heaviest(this.#forest.runs(), newcomer);
    let tree = tenant === undefined ? undefined : this.#forest.firstOf(tenant);
    if (tree?.first === newcomer && tree.last === newcomer) tree = tree.nextOfTenant;
    if (tree === undefined) return;
    this.#counters.adjustments.evicted_runs++;
    let victim = tree.first;
    while (victim !== undefined && (victim.openChildren > 0 || victim === newcomer)) {
      victim = victim.next;
    }
    const run = victim ?? tree.first;
    if (run !== undefined) this.abandon(run, "limit");
  }

  /** Closes leaves first, so that no child stays open under a closed parent. */
  #abandonTree(tree: Tree<H>, reason: AbandonedReason, at?: Instant): number {
    let count = 0;
    while (tree.last !== undefined) {
      const before = count;
      // From the end, since a child is mostly active after its parent, and up from each leaf.
      for (let run: Run<H> | undefined = tree.last; run !== undefined; ) {
        const previous: Run<H> | undefined = run.previous;
        let leaf: Run<H> | undefined = run;
        while (leaf?.open === true && leaf.openChildren === 0) {
          const parent: Run<H> | undefined = leaf.parent;
          this.abandon(leaf, reason, at);
          count++;
          leaf = parent;
        }
        run = previous;
      }
      // There is always a leaf. This only prevents an endless loop after a bug.
      if (count === before && tree.last !== undefined) this.abandon(tree.last, reason, at);
    }
    return count;
  }
}
