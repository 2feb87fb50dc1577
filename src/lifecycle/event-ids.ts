import { tenantKey } from "../events/agent-event.ts";
import { HASH_SALT } from "./hash-salt.ts";
import { RecentMap } from "./recent-map.ts";
import { readUuid, type UuidWords } from "./uuid-words.ts";

/** Tenants that are told apart by a number; event ids of further ones are kept as text. */
const NUMBERED_TENANTS = 4_096;

/**
 * The event ids that came last: of UUIDs, and of other ids, at least so many and at most twice as many.
 * Each belongs to its tenant: nobody can suppress another tenant's events.
 *
 * UUIDs, which nearly all are, are kept as numbers: a map of a hundred thousand texts takes twice as
 * long, for its keys, its look-ups and the garbage collector, which moves each of them.
 */
export class EventIds {
  /** Ids that were forgotten, because others have come since. */
  forgotten = 0;
  readonly #least: number;
  readonly #tenants = new Map<string, number>();
  readonly #texts: RecentMap<true>;
  #recent: UuidTable | undefined;
  #older: UuidTable | undefined;

  constructor(least: number) {
    this.#least = least;
    this.#texts = new RecentMap(least);
  }

  /** @returns false when the id was there. */
  add(tenantId: string, eventId: string): boolean {
    const uuid = readUuid(eventId);
    const tenant = this.#numberOf(tenantId);
    // Ids are told apart by their letters, capitals too.
    if (uuid === undefined || uuid.capitals || tenant === undefined) {
      return this.#addText(tenantKey(tenantId, eventId));
    }
    const hash = hashOf(uuid.w0, uuid.w1, uuid.w2, uuid.w3, tenant);
    if (this.#older?.has(uuid, tenant, hash)) return false;
    this.#recent ??= new UuidTable();
    if (!this.#recent.add(uuid, tenant, hash)) return false;
    if (this.#recent.size === this.#least) this.#turn(this.#recent);
    return true;
  }

  #addText(key: string): boolean {
    if (this.#texts.get(key) !== undefined) return false;
    this.forgotten += this.#texts.set(key, true);
    return true;
  }

  /** The older half makes room for the next ids. */
  #turn(full: UuidTable): void {
    this.#recent = this.#older;
    this.#older = full;
    this.forgotten += this.#recent?.size ?? 0;
    this.#recent?.clear();
  }

  #numberOf(tenantId: string): number | undefined {
    const known = this.#tenants.get(tenantId);
    if (known !== undefined || this.#tenants.size === NUMBERED_TENANTS) return known;
    this.#tenants.set(tenantId, this.#tenants.size);
    return this.#tenants.size - 1;
  }
}

/** The four words of an id, and its tenant's number. */
const WORDS = 5;
/** Ids that a table has room for at first. */
const FIRST_ROOM = 1_024;

/** A set of ids with their tenants: open addressing, linear probing, at most half full. */
class UuidTable {
  size = 0;
  /** A power of two. */
  #room = FIRST_ROOM;
  #words = new Int32Array(FIRST_ROOM * WORDS);
  /** Place + 1, or 0, and above it bits of the hash. */
  #index = new Int32Array(FIRST_ROOM * 2);

  has(uuid: UuidWords, tenant: number, hash: number): boolean {
    return this.#index[this.#find(uuid, tenant, hash)] !== 0;
  }

  /** @returns false when the id is in. */
  add(uuid: UuidWords, tenant: number, hash: number): boolean {
    if (this.size === this.#room) this.#grow();
    const at = this.#find(uuid, tenant, hash);
    if (this.#index[at] !== 0) return false;
    const words = this.#words;
    const place = this.size * WORDS;
    words[place] = uuid.w0;
    words[place + 1] = uuid.w1;
    words[place + 2] = uuid.w2;
    words[place + 3] = uuid.w3;
    words[place + 4] = tenant;
    this.size += 1;
    this.#index[at] = (hash & ~this.#places) | this.size;
    return true;
  }

  clear(): void {
    this.size = 0;
    this.#index.fill(0);
  }

  /** The bits of an entry that say a place + 1. */
  get #places(): number {
    return this.#room * 2 - 1;
  }

  /** Where in the index the id is, or belongs. */
  #find(uuid: UuidWords, tenant: number, hash: number): number {
    const index = this.#index;
    const mask = index.length - 1;
    const places = this.#places;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const entry = index[at] ?? 0;
      if (entry === 0) return at;
      const isAlike = ((entry ^ hash) & ~places) === 0;
      if (isAlike && this.#isAt((entry & places) - 1, uuid, tenant)) return at;
    }
  }

  #isAt(place: number, uuid: UuidWords, tenant: number): boolean {
    const words = this.#words;
    const at = place * WORDS;
    return (
      words[at] === uuid.w0 &&
      words[at + 1] === uuid.w1 &&
      words[at + 2] === uuid.w2 &&
      words[at + 3] === uuid.w3 &&
      words[at + 4] === tenant
    );
  }

  #grow(): void {
    this.#room *= 2;
    const words = new Int32Array(this.#room * WORDS);
    words.set(this.#words);
    this.#words = words;
    const index = new Int32Array(this.#room * 2);
    const mask = index.length - 1;
    for (let place = 0; place < this.size; place += 1) {
      const word = (n: number) => words[place * WORDS + n] ?? 0;
      const hash = hashOf(word(0), word(1), word(2), word(3), word(4));
      let at = hash & mask;
      while (index[at] !== 0) at = (at + 1) & mask;
      index[at] = (hash & ~this.#places) | (place + 1);
    }
    this.#index = index;
  }
}

/** An id may count up in any of its words. */
function hashOf(w0: number, w1: number, w2: number, w3: number, tenant: number): number {
  let hash = Math.imul(w0 ^ tenant ^ HASH_SALT, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15) ^ w1, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13) ^ w2, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 16) ^ w3, 0x9e3779b1);
  return hash ^ (hash >>> 15);
}
