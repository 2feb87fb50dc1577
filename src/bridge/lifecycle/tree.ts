import { compareInstants, type Instant } from "../../events/door.ts";
import type { Counters } from "./counters.ts";
import type { Run } from "./run.ts";
import { type TenantList, TenantTrees } from "./tenant-trees.ts";

/**
 * A root and its descendants that are open in this process. The age limit applies to the tree, so that a
 * parent that waits for its children is not idle.
 */
export class Tree<H> {
  /** Latest event time in the tree. */
  lastAt: Instant;
  /** Time of its last activity, by the clock of the forest. */
  activityAt: Instant | undefined = undefined;
  /** Number of all events at its last activity. */
  events = 0;
  /** Open runs, least recently active first. */
  first: Run<H> | undefined = undefined;
  last: Run<H> | undefined = undefined;
  /** Neighbors in the list of all trees with open runs. */
  previous: Tree<H> | undefined = undefined;
  next: Tree<H> | undefined = undefined;
  /** The list of its tenant's trees, and its neighbors there. Only while there are too many runs. */
  list: TenantList<H> | undefined = undefined;
  previousOfTenant: Tree<H> | undefined = undefined;
  nextOfTenant: Tree<H> | undefined = undefined;
  /** Data of the observer. */
  observed: unknown = undefined;

  constructor(at: Instant) {
    this.lastAt = at;
  }

  add(run: Run<H>): void {
    run.previous = this.last;
    run.next = undefined;
    if (this.last === undefined) this.first = run;
    else this.last.next = run;
    this.last = run;
  }

  remove(run: Run<H>): void {
    if (run.previous === undefined) this.first = run.next;
    else run.previous.next = run.next;
    if (run.next === undefined) this.last = run.previous;
    else run.next.previous = run.previous;
    run.previous = undefined;
    run.next = undefined;
  }
}

/**
 * All trees with open runs, the longest-idle first.
 *
 * Linked lists: exact order, and O(1) for every operation.
 */
export class Forest<H> {
  first: Tree<H> | undefined = undefined;
  /** Live: the last reading of this process's clock. Replay: the time of the newest event. */
  clock: Instant | undefined = undefined;
  readonly #counters: Pick<Counters, "events">;
  #last: Tree<H> | undefined = undefined;
  /** From the first {@link firstOf} until {@link rest}, so that events cost nothing before. */
  #tenants: TenantTrees<H> | undefined = undefined;

  /** @param counters the number of events so far. Default 0. */
  constructor(counters: Pick<Counters, "events"> = { events: 0 }) {
    this.#counters = counters;
  }

  /** All trees with open runs. The list must not change during the iteration. */
  *trees(): Generator<Tree<H>, void, undefined> {
    for (let tree = this.first; tree !== undefined; tree = tree.next) yield tree;
  }

  /** All open runs, tree by tree. */
  *runs(): Generator<Run<H>, void, undefined> {
    for (const tree of this.trees()) {
      for (let run = tree.first; run !== undefined; run = run.next) yield run;
    }
  }

  /** The tenant's longest-idle tree. */
  firstOf(tenantId: string): Tree<H> | undefined {
    if (this.#tenants === undefined) {
      this.#tenants = new TenantTrees();
      for (let tree = this.first; tree !== undefined; tree = tree.next) {
        // All runs of a tree have one tenant: a run gets no parent of another tenant.
        if (tree.first !== undefined) this.#tenants.append(tree, tree.first.tenantId);
      }
    }
    return this.#tenants.firstOf(tenantId);
  }

  /** Drops the lists of tenants until the next {@link firstOf}. */
  rest(): void {
    this.#tenants?.clear();
    this.#tenants = undefined;
  }

  /** Adds an opened run to its tree, which becomes the most recently active. */
  add(run: Run<H>, at: Instant): void {
    const tree = run.tree;
    if (tree.first === undefined) {
      this.#append(tree);
      this.#tenants?.append(tree, run.tenantId);
    }
    tree.add(run);
    this.touch(run, at);
  }

  /** Records activity of a run. */
  touch(run: Run<H>, at: Instant): void {
    const tree = run.tree;
    if (tree.activityAt !== this.clock) tree.activityAt = this.clock;
    tree.events = this.#counters.events;
    if (compareInstants(at, tree.lastAt) > 0) tree.lastAt = at;
    if (compareInstants(at, run.lastAt) > 0) run.lastAt = at;
    if (tree.last !== run) {
      tree.remove(run);
      tree.add(run);
    }
    if (this.#last !== tree) this.#moveToEnd(tree);
  }

  /** Sets the last activity of the tree to `at`, and makes it the most recently active. */
  moveToEnd(tree: Tree<H>, at: Instant): void {
    tree.lastAt = at;
    if (this.#last !== tree) this.#moveToEnd(tree);
  }

  /** Removes a closed run from its tree, and an empty tree from the list. */
  remove(run: Run<H>): void {
    const tree = run.tree;
    tree.remove(run);
    if (tree.first !== undefined) return;
    this.#unlink(tree);
    this.#tenants?.remove(tree);
  }

  #moveToEnd(tree: Tree<H>): void {
    this.#unlink(tree);
    this.#append(tree);
    this.#tenants?.moveToEnd(tree);
  }

  #append(tree: Tree<H>): void {
    tree.previous = this.#last;
    tree.next = undefined;
    if (this.#last === undefined) this.first = tree;
    else this.#last.next = tree;
    this.#last = tree;
  }

  #unlink(tree: Tree<H>): void {
    if (tree.previous === undefined) this.first = tree.next;
    else tree.previous.next = tree.next;
    if (tree.next === undefined) this.#last = tree.previous;
    else tree.next.previous = tree.previous;
    tree.previous = undefined;
    tree.next = undefined;
  }
}
