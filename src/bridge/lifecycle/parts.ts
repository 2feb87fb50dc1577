import { type Instant, RecentMap } from "../../events/door.ts";

/** A tool call, a model call or a step. */
export interface Part<P> {
  /** Empty if the source has no ID of it. */
  readonly id: string;
  /** Its own key, if its source gives one. */
  readonly key?: string | undefined;
  readonly name?: string | undefined;
  readonly startedAt: Instant;
  /** Neighbors in the list of open parts. */
  previous: P | undefined;
  next: P | undefined;
}

/** Beyond this many open parts a scan costs more than an index. */
const SCAN_MOST = 16;

/** A run remembers at least this many parts that ended last, and at most twice as many. */
const ENDED_AT_LEAST = 128;

/**
 * The tool calls, the model calls or the steps of one run: those that are open, oldest first, and the
 * last ones that {@link noteEnded} was called with.
 *
 * Several open parts can have the same ID. Parts with an empty ID are found by their name, and those with a
 * key also by their key.
 */
export class Parts<P extends Part<P>> {
  oldest: P | undefined = undefined;
  newest: P | undefined = undefined;
  size = 0;
  /** Open parts by key, oldest first. Built when a scan gets long, and dropped when all are closed. */
  #index: Map<string, P[]> | undefined = undefined;
  #ended: RecentMap<P> | undefined = undefined;

  add(part: P): void {
    part.previous = this.newest;
    if (this.newest === undefined) this.oldest = part;
    else this.newest.next = part;
    this.newest = part;
    this.size++;
    if (this.#index !== undefined) enter(this.#index, part);
    else if (this.size > SCAN_MOST) this.#index = this.#build();
  }

  /** Removes an open part. */
  remove(part: P): void {
    if (part.previous === undefined) this.oldest = part.next;
    else part.previous.next = part.next;
    if (part.next === undefined) this.newest = part.previous;
    else part.next.previous = part.previous;
    part.previous = undefined;
    part.next = undefined;
    this.size--;
    if (this.#index === undefined) return;
    if (this.size === 0) {
      this.#index = undefined;
      return;
    }
    leave(this.#index, keyOf(part.id, part.name), part);
    if (part.key !== undefined) leave(this.#index, keyOf(part.key, ""), part);
  }

  /**
   * The oldest open part of this ID. If the ID is empty: of this name.
   *
   * @param key the part's own. Without one, parts with a key are not found.
   */
  oldestOf(id: string, name: string, key?: string): P | undefined {
    if (this.#index !== undefined) {
      const same = this.#index.get(keyOf(id, name));
      return same?.[0]?.key === key ? same?.[0] : same?.find((part) => part.key === key);
    }
    for (let part = this.oldest; part !== undefined; part = part.next) {
      if (part.id === id && part.key === key && (id !== "" || part.name === name)) return part;
    }
    return undefined;
  }

  /** The open part of this key. Without one, the newest of this ID, with any name. Parts with a key come last. */
  newestOf(id: string): P | undefined {
    if (this.#index !== undefined && id !== "") {
      const same = this.#index.get(keyOf(id, ""));
      const newest = same?.at(-1);
      if (newest?.key === undefined || newest.key === id) return newest;
      return same?.findLast(({ key }) => key === undefined || key === id) ?? newest;
    }
    let keyed: P | undefined;
    for (let part = this.newest; part !== undefined; part = part.previous) {
      if (part.key === id || (part.id === id && part.key === undefined)) return part;
      if (part.id === id) keyed ??= part;
    }
    return keyed;
  }

  /** The part of this ID, open or ended. */
  find(id: string): P | undefined {
    return this.newestOf(id) ?? this.#ended?.get(id);
  }

  /**
   * Remembers a part that has ended.
   *
   * @returns how many parts were forgotten for it, mostly 0.
   */
  noteEnded(part: P): number {
    this.#ended ??= new RecentMap(ENDED_AT_LEAST);
    return this.#ended.set(part.id, part);
  }

  /** @param id not empty. */
  has(id: string, isMatch: (part: P) => boolean): boolean {
    if (this.#index !== undefined) return this.#index.get(keyOf(id, ""))?.some(isMatch) ?? false;
    for (let part = this.oldest; part !== undefined; part = part.next) {
      if (part.id === id && isMatch(part)) return true;
    }
    return false;
  }

  #build(): Map<string, P[]> {
    const index = new Map<string, P[]>();
    for (let part = this.oldest; part !== undefined; part = part.next) enter(index, part);
    return index;
  }
}

function enter<P extends Part<P>>(index: Map<string, P[]>, part: P): void {
  addTo(index, keyOf(part.id, part.name), part);
  if (part.key !== undefined) addTo(index, keyOf(part.key, ""), part);
}

function addTo<P>(index: Map<string, P[]>, key: string, part: P): void {
  const same = index.get(key);
  if (same === undefined) index.set(key, [part]);
  else same.push(part);
}

function leave<P>(index: Map<string, P[]>, key: string, part: P): void {
  const same = index.get(key);
  if (same === undefined) return;
  const at = same.indexOf(part);
  if (at >= 0) same.splice(at, 1);
  if (same.length === 0) index.delete(key);
}

/** The prefix keeps keys of IDs and keys of names apart. */
function keyOf(id: string, name: string | undefined): string {
  return id === "" ? `name ${name}` : `id ${id}`;
}
