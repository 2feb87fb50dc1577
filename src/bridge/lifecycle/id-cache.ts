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

/** Tenants that get a number. IDs of further tenants are hashed with the tenant. */
const NUMBERED_TENANTS = 4_096;
/** The owner of all hashed IDs. Their hash contains the tenant. */
const HASHED = -1;

/**
 * The last event IDs: at least `limit`, and at most twice as many. An ID takes 28 bytes, and up to half
 * of the table is empty. Each ID belongs to its tenant, so no sender can suppress another tenant's events.
 *
 * UUIDs are stored as they are. For other IDs, 128 bits of a salted SHA-256 are stored: the size is fixed,
 * and no sender can find an ID that collides with another one.
 *
 * An ID that is added again does not become newer, so redelivered old events do not evict others.
 */
export class IdCache {
  /** Number of IDs that are stored at least. */
  readonly limit: number;
  /** Number of IDs that were dropped for newer ones. */
  forgotten = 0;
  /** Random for each process, so that no sender can choose IDs that collide in the table. */
  readonly #salt = randomBytes(16).toString("hex");
  readonly #tenants = new Map<string, number>();
  readonly #firstRoom: number | undefined;
  #recent: IdTable | undefined;
  #older: IdTable | undefined;
  // The results of `#read`. An object for each event costs more than the lookup.
  #id: IdWords = { w0: 0, w1: 0, w2: 0, w3: 0 };
  #owner = 0;
  #hash = 0;

  /**
   * @param limit number of IDs that are stored at least.
   * @param firstRoom initial capacity in IDs. Default 1,024. The table grows when needed.
   * @throws RangeError if `limit` is not a whole number from 1.
   */
  constructor(limit: number, firstRoom?: number) {
    checkWhole(limit, "limit", 1);
    this.limit = limit;
    this.#firstRoom = firstRoom;
  }

  /** Number of stored IDs. */
  get size(): number {
    return (this.#recent?.size ?? 0) + (this.#older?.size ?? 0);
  }

  has(tenantId: string, eventId: string): boolean {
    this.#read(tenantId, eventId);
    return this.#isIn(this.#recent) || this.#isIn(this.#older);
  }

  /** @returns false if the ID was stored already. */
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

  /** Drops the older half. Removing single IDs would leave holes in the table. */
  #turn(full: IdTable): void {
    this.#recent = this.#older;
    this.#older = full;
    this.forgotten += this.#recent?.size ?? 0;
    this.#recent?.clear();
  }

  #read(tenantId: string, eventId: string): void {
    const uuid = readUuid(eventId);
    const tenant = this.#numberOf(tenantId);
    // IDs are case-sensitive, so a UUID with capitals is hashed.
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

/** Event cache: detects events that were seen before. */
export class SeenEvents {
  readonly #ids: IdCache;
  readonly #counters: Counters;

  /** @param most number of event IDs that are stored at least. */
  constructor(most: number, counters: Counters) {
    this.#ids = new IdCache(most);
    this.#counters = counters;
  }

  /**
   * Whether an event was seen before. A repeat is counted, and its signals must not be applied.
   *
   * @param eventId untyped programs pass `null` or `""` for none. Such events are never repeats.
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
