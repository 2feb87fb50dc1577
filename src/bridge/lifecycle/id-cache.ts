import { randomBytes } from "node:crypto";
import {
  checkWhole,
  hashedWords,
  hashOfId,
  IdTable,
  type IdWords,
  readUuid,
  tenantKey,
} from "../../events/door.ts";
import type { Counters } from "./counters.ts";

/** Tenants that are told apart by a number; ids of further ones are hashed with their tenant. */
const NUMBERED_TENANTS = 4_096;
/** The owner of all hashed ids: their tenant is in the hash. */
const HASHED = -1;

/**
 * The event ids that came last: at least `limit`, and at most twice as many. There is room for each in
 * 28 bytes, and for up to twice as many as there are. Each id belongs to its tenant: no sender can
 * suppress another tenant's events.
 *
 * UUIDs, which nearly all are, are kept as they are. Of another id 128 bits of a salted SHA-256 are
 * kept: it takes no more room however long it is, and no sender finds one that passes for another's.
 *
 * An id that is added again while it is known keeps its age: to redeliver old events does not push
 * out others.
 */
export class IdCache {
  /** Ids remembered, at least. */
  readonly limit: number;
  /** Ids that were forgotten, because others have come since. */
  forgotten = 0;
  /** Of this process alone: nobody can choose ids that crowd one place of a table. */
  readonly #salt = randomBytes(16).toString("hex");
  readonly #tenants = new Map<string, number>();
  readonly #firstRoom: number | undefined;
  #recent: IdTable | undefined;
  #older: IdTable | undefined;
  // What `#read` found, kept here since an object for each event is dearer than the look-up.
  #id: IdWords = { w0: 0, w1: 0, w2: 0, w3: 0 };
  #owner = 0;
  #hash = 0;

  /**
   * @param limit ids remembered, at least.
   * @param firstRoom ids that room is made for at once. Default 1,024: it grows as ids come.
   * @throws RangeError when the limit is no whole number from 1.
   */
  constructor(limit: number, firstRoom?: number) {
    checkWhole(limit, "limit", 1);
    this.limit = limit;
    this.#firstRoom = firstRoom;
  }

  /** Ids remembered now. */
  get size(): number {
    return (this.#recent?.size ?? 0) + (this.#older?.size ?? 0);
  }

  has(tenantId: string, eventId: string): boolean {
    this.#read(tenantId, eventId);
    return this.#isIn(this.#recent) || this.#isIn(this.#older);
  }

  /** @returns false when the id was there. */
  add(tenantId: string, eventId: string): boolean {
    this.#read(tenantId, eventId);
    if (this.#isIn(this.#older)) return false;
    this.#recent ??= new IdTable(this.#firstRoom);
    if (!this.#recent.add(this.#id, this.#owner, this.#hash)) return false;
    if (this.#recent.size === this.limit) this.#turn(this.#recent);
    return true;
  }

  #isIn(table: IdTable | undefined): boolean {
    return table !== undefined && table.positionOf(this.#id, this.#owner, this.#hash) >= 0;
  }

  /** The older half makes room for the next ids: a table that loses single ids would get holes. */
  #turn(full: IdTable): void {
    this.#recent = this.#older;
    this.#older = full;
    this.forgotten += this.#recent?.size ?? 0;
    this.#recent?.clear();
  }

  #read(tenantId: string, eventId: string): void {
    const uuid = readUuid(eventId);
    const tenant = this.#numberOf(tenantId);
    // Ids are told apart by their letters, capitals too.
    const isPlain = uuid !== undefined && !uuid.capitals && tenant !== undefined;
    this.#id = isPlain ? uuid : hashedWords(this.#salt + tenantKey(tenantId, eventId));
    this.#owner = isPlain ? tenant : HASHED;
    this.#hash = hashOfId(this.#id, this.#owner);
  }

  #numberOf(tenantId: string): number | undefined {
    const known = this.#tenants.get(tenantId);
    if (known !== undefined || this.#tenants.size === NUMBERED_TENANTS) return known;
    this.#tenants.set(tenantId, this.#tenants.size);
    return this.#tenants.size - 1;
  }
}

/** The IDs of the last events: an event that has come before changes nothing. */
export class SeenEvents {
  readonly #ids: IdCache;
  readonly #counters: Counters;

  /** @param most IDs that are remembered. */
  constructor(most: number, counters: Counters) {
    this.#ids = new IdCache(most);
    this.#counters = counters;
  }

  /**
   * Whether an event has come before, which is counted then: none of its signals may be applied.
   *
   * @param eventId programs without types give `null` and `""` for none; no two events share those.
   */
  isRepeat(tenantId: string, eventId: string): boolean {
    if (typeof eventId !== "string" || eventId === "") return false;
    if (!this.#ids.add(tenantId, eventId)) {
      this.#counters.ignored.duplicate++;
      return true;
    }
    this.#counters.adjustments.forgotten_event_ids = this.#ids.forgotten;
    return false;
  }
}
