import type { Tree } from "./tree.ts";

/** The trees of one tenant, in the order of the list of all trees. */
export interface TenantList<H> {
  readonly tenantId: string;
  first: Tree<H> | undefined;
  last: Tree<H> | undefined;
}

/**
 * The trees of each tenant, in the order of the list of all trees. Finds a tenant's longest-idle tree
 * without a search through those of other tenants.
 *
 * Linked lists, O(1) for every operation.
 */
export class TenantTrees<H> {
  readonly #lists = new Map<string, TenantList<H>>();

  firstOf(tenantId: string): Tree<H> | undefined {
    return this.#lists.get(tenantId)?.first;
  }

  append(tree: Tree<H>, tenantId: string): void {
    let list = this.#lists.get(tenantId);
    if (list === undefined) {
      list = { tenantId, first: undefined, last: undefined };
      this.#lists.set(tenantId, list);
    }
    join(list, tree);
  }

  moveToEnd(tree: Tree<H>): void {
    const { list } = tree;
    if (list === undefined || list.last === tree) return;
    part(list, tree);
    join(list, tree);
  }

  remove(tree: Tree<H>): void {
    const { list } = tree;
    if (list === undefined) return;
    part(list, tree);
    if (list.first === undefined) this.#lists.delete(list.tenantId);
  }

  /** Removes all trees, so that none keeps another in memory. */
  clear(): void {
    for (const { first } of this.#lists.values()) {
      for (let tree = first; tree !== undefined; ) {
        const next: Tree<H> | undefined = tree.nextOfTenant;
        tree.list = undefined;
        tree.previousOfTenant = undefined;
        tree.nextOfTenant = undefined;
        tree = next;
      }
    }
    this.#lists.clear();
  }
}

function join<H>(list: TenantList<H>, tree: Tree<H>): void {
  tree.list = list;
  tree.previousOfTenant = list.last;
  if (list.last === undefined) list.first = tree;
  else list.last.nextOfTenant = tree;
  list.last = tree;
}

function part<H>(list: TenantList<H>, tree: Tree<H>): void {
  const { nextOfTenant: next, previousOfTenant: previous } = tree;
  if (previous === undefined) list.first = next;
  else previous.nextOfTenant = next;
  if (next === undefined) list.last = previous;
  else next.previousOfTenant = previous;
  tree.list = undefined;
  tree.previousOfTenant = undefined;
  tree.nextOfTenant = undefined;
}
