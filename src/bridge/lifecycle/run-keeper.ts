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
  /** They close what a run that ends has open. */
  readonly calls: CallKeeper<H>;
  readonly models: ModelKeeper<H>;
  readonly steps: StepKeeper<H>;
}

/** Opens, reopens, closes and gives up runs: their parents, their segments, their limits. */
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
  /** The last interrupted run of each thread, until a run follows it there. */
  readonly #interrupted: RecentMap<H>;
  #openRuns = 0;
  /** Open runs whose calls nobody will see. */
  quietRuns = 0;
  /** Told of every run; see `Lifecycle.observe`. */
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

  /** All trees with open runs, the one that was silent longest first. */
  openTrees(): Iterable<Tree<H>> {
    return this.#forest.trees();
  }

  get forgottenCallIds(): number {
    return this.#budget.forgotten;
  }

  /** A run id in the form it is kept in. */
  canonical(runId: string): string {
    return this.#runs.canonical(runId);
  }

  /** The tenant's run, open or remembered. */
  find(tenantId: string, runId: string): Run<H> | undefined {
    const run = this.#runs.find(tenantId, runId);
    if (run !== undefined) return run;
    const canonical = this.canonical(runId);
    return canonical === runId ? undefined : this.#runs.find(tenantId, canonical);
  }

  /** The run that an event is about; closed where it was silent for too long before. */
  findOf({ tenantId, runId }: Pick<SignalSubject, "tenantId" | "runId">): Run<H> | undefined {
    const run = this.find(tenantId, runId);
    // Live, the timer does this.
    if (run?.open === true && this.#ages.eventAt !== undefined) this.#ages.goesOn(run.tree);
    return run;
  }

  /** The tenant's run of this id, if it is the first open one of the id. */
  findFirstOpen(tenantId: string, runId: string): Run<H> | undefined {
    return this.#runs.findFirstOpen(tenantId, runId);
  }

  /** A run that is not open yet; its ids are its own or, in a conflict of tenants, hashed. */
  create(tenantId: string, runId: string, at: Instant): Run<H> {
    const { ids, conflict } = this.#runs.identify(tenantId, runId);
    if (conflict) this.#counters.tenantConflict(tenantId);
    return new Run(tenantId, runId, ids, at, new Tree<H>(at));
  }

  /** Opens a run whose start was not seen, from the first that is known of it. */
  openUnseen(tenantId: string, runId: string, from: Instant, event: SignalContext<H>): Run<H> {
    const run = this.create(tenantId, this.canonical(runId), from);
    run.startUnseen = true;
    this.#counters.adjustments.unseen_starts++;
    this.open(run, from, event);
    return run;
  }

  /**
   * Opens a new run: finds its parent, links it to what it continues.
   *
   * @param origin what the dialect says; it wins over what the envelope does.
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
      if (run.resumedFromRunId !== undefined) this.#calls.childWentOn(run, at);
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
   * Opens the next segment of a closed run, linked to the one before.
   *
   * @param started whether a `started` opens it, and not another event.
   */
  reopen(run: Run<H>, at: Instant, event: SignalContext<H>, started: boolean): void {
    this.#runs.recall(run);
    run.owner = event.owner() ?? run.owner;
    const links: Link<H>[] =
      run.handle === undefined ? [] : [{ kind: "previous_segment", to: run.handle }];
    // The pause is over: no later run of the thread follows on it.
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
    run.startedAt = at;
    run.lastAt = at;
    if (run.tree.first === undefined) run.tree = new Tree<H>(at);
    this.#enter(run, at, links);
  }

  /** The `started` of a run that another event had to open: it names, links and completes it. */
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
   * The link to the run that this one continues, known or derived.
   *
   * @param resumedFromRunId in its canonical form.
   */
  resumedFrom(run: Run<H>, resumedFromRunId: string): Link<H> {
    const known = this.#runs.find(run.tenantId, resumedFromRunId)?.handle;
    if (known !== undefined) return { kind: "resumed_from", to: known };
    const { ids } = this.#runs.identify(run.tenantId, resumedFromRunId);
    return { kind: "resumed_from", to: this.#driver.derived(ids.traceId, ids.spanId) };
  }

  /** The run continues another one, which became known after its start. */
  linkResumed(tenantId: string, runId: string, resumedFromRunId: string): void {
    const run = this.find(tenantId, runId);
    if (run === undefined || !run.open || run.resumedFromRunId !== undefined) return;
    const resumedFrom = this.canonical(resumedFromRunId);
    if (resumedFrom === run.runId) return;
    run.resumedFromRunId = resumedFrom;
    this.#calls.childWentOn(run, run.lastAt);
    this.observer?.runResumed(run, resumedFrom);
    this.#driver.linkResumed(run, this.resumedFrom(run, resumedFrom));
  }

  /** An event tells of the end of an open run. That of a child is activity of its tree, which goes on. */
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
      // A closed run must not hold its ancestors in memory.
      run.parent = undefined;
    }
    if (end.outcome === "interrupted" && run.threadId !== undefined && run.handle !== undefined) {
      this.#interrupted.set(tenantKey(run.tenantId, run.threadId), run.handle);
    }
    if (this.#runs.remember(run)) this.#counters.adjustments.forgotten_runs++;
    this.observer?.runClosed(run, at, end);
    // Last, so that the run is closed whatever its driver does.
    this.#driver.closeRun(run, at, end, byEvent);
  }

  /**
   * Closes an open run without a terminal event: as it may have ended, else `abandoned`, at `at` or
   * at its last activity.
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

  /** Replay only: an event is played. */
  set eventAt(at: Instant) {
    this.#ages.eventAt = at;
  }

  /** Time passes: closes what was silent for too long. */
  tick(now: Instant, source: TimeSource): void {
    this.#ages.tick(now, source);
  }

  /** Live only: gives every run that has been open for long a span to be found by. */
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

  /** Closes every open run, children before their parents; `at` default: its last activity. */
  abandonAll(reason: AbandonedReason, at?: Instant): void {
    this.#ages.end();
    for (let tree = this.#forest.first; tree !== undefined; tree = this.#forest.first) {
      this.#abandonTree(tree, reason, at);
    }
  }

  /** Notes activity of an open run. */
  touch(run: Run<H>, at: Instant): void {
    if (run.open) this.#forest.touch(run, at);
  }

  /** Gives up the run that was silent longest, of the tenant that has the most. */
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

  /** Leaves first, so that no child is left open under a parent that was given up. */
  #abandonTree(tree: Tree<H>, reason: AbandonedReason, at?: Instant): number {
    let count = 0;
    while (tree.last !== undefined) {
      const before = count;
      // From the end, since a child is mostly active after its parent; and up from each leaf.
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
      // There is always a leaf. Were there none, the process must not hang on it.
      if (count === before && tree.last !== undefined) this.abandon(tree.last, reason, at);
    }
    return count;
  }
}
