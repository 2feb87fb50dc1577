import { createHash } from "node:crypto";
import {
  type AuditEntry,
  type AuditRow,
  EMPTY_THREAD,
  type RowAnchor,
  type SessionLog,
  type ThreadKey,
  threadText,
} from "../../audit/door.ts";
import {
  type InFlightSet,
  MOST_BYTES,
  type ReplayFilter,
  type Retry,
  type RunSegment,
  roughBytes,
  type StoreFlow,
} from "../../bridge/door.ts";
import { RecentMap } from "../../events/door.ts";
import { isRowRefused, ThreadAppendQueue } from "./thread-append-queue.ts";

/** Rows that are stored already and remembered, at least, to know those that come again. */
const REMEMBERED = 20_000;
/** Rows that may be under way before more are made. */
export const MOST_ROWS = 4_096;
/** Of a thread, the rows that are looked through for one that is stored. */
const LAST_ROWS = 256;

/** What a row without an event id is known by. */
interface RowSource {
  readonly line: number;
  readonly text: string;
}

interface ProcessorLogOptions {
  readonly log: SessionLog;
  readonly filter: ReplayFilter;
  readonly inFlight: InFlightSet;
  /** Takes what {@link isRowRefused} says for final. */
  readonly retry: Retry;
  readonly closed: AbortSignal;
  /** Of rows under way, or looked for. */
  readonly flow: StoreFlow;
}

/**
 * The audit log as the bridge of a log processor sees it: patient, and silent about rows that an earlier life
 * of the log processor has stored.
 */
export class ProcessorLog implements SessionLog {
  /** By their line, which tells equal ones apart also after a restart. */
  readonly namesRows = true;
  stored = 0;
  refused = 0;
  /** Of the rows that are stored already and whose place may be asked for. */
  #heldBytes = 0;
  readonly #log: SessionLog;
  readonly #filter: ReplayFilter;
  readonly #inFlight: InFlightSet;
  readonly #retry: Retry;
  readonly #appends: ThreadAppendQueue;
  readonly #flow: StoreFlow;
  /** Of the rows that are read last for a search. One at a time reads: they may be large. */
  #reading: Promise<unknown> = Promise.resolve();
  /** Of the rows that are stored already, those that came last. */
  readonly #seen = new RecentMap<true>(REMEMBERED);
  #source: RowSource | undefined;
  /** Rows of the source that had no event id. */
  #nameless = 0;

  constructor({ closed, filter, flow, inFlight, log, retry }: ProcessorLogOptions) {
    this.#log = log;
    this.#filter = filter;
    this.#inFlight = inFlight;
    this.#retry = retry;
    this.#appends = new ThreadAppendQueue(log, retry, closed);
    this.#flow = flow;
  }

  /** The rows that follow are of this line. */
  set source(source: RowSource | undefined) {
    this.#source = source;
    this.#nameless = 0;
  }

  append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    const [only, another] = entries;
    // None: a probe. Whether the log is well only matters to agents that wait for it.
    if (only === undefined) return NOWHERE;
    return another === undefined ? this.#take(key, only) : this.#takeAll(key, entries);
  }

  loadSince(key: ThreadKey, cursor: number): Promise<readonly AuditRow[]> {
    return this.#log.loadSince(key, cursor);
  }

  archiveBefore(key: ThreadKey, watermark: number): Promise<number> {
    return this.#log.archiveBefore(key, watermark);
  }

  async #takeAll(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    const anchors = await Promise.all(entries.map((entry) => this.#take(key, entry)));
    return anchors.at(-1) ?? EMPTY_THREAD;
  }

  #take(key: ThreadKey, given: AuditEntry): Promise<RowAnchor> {
    const entry = given.event_id ? given : { ...given, event_id: this.#nameOf() };
    const segment = this.#filter.segmentOf(key.tenant_id, entry.run_id ?? "");
    if (segment?.alreadyExported) return NOWHERE;
    if (!this.#filter.alreadyExported) return this.#append(key, entry, segment);
    if (segment === undefined) return NOWHERE;
    const thread = threadText(key);
    const repeated = this.#hasSeen(thread + entry.event_id);
    const find = () => this.#find(key, entry, segment);
    const bytes = roughBytes(entry.event);
    // To say where it stands only if it matters is cheaper, but keeps the row until then.
    if (this.#heldBytes + bytes > MOST_BYTES) return find();
    const place = segment.remember(thread, repeated, find);
    if (place === undefined) return NOWHERE;
    this.#heldBytes += bytes;
    const letGo = () => {
      this.#heldBytes -= bytes;
    };
    place.then(letGo, letGo);
    return place;
  }

  #hasSeen(row: string): boolean {
    if (this.#seen.get(row) === true) return true;
    this.#seen.set(row, true);
    return false;
  }

  async #append(key: ThreadKey, entry: AuditEntry, segment?: RunSegment): Promise<RowAnchor> {
    const epoch = this.#inFlight.begin();
    const bytes = roughBytes(entry.event);
    this.#flow.begin(bytes);
    try {
      const anchor = await this.#appends.append(key, entry, segment);
      this.stored++;
      return anchor;
    } catch (error) {
      this.refused++;
      throw error;
    } finally {
      epoch.end();
      this.#flow.end(bytes);
    }
  }

  /**
   * The place of a row that is stored. It is among the last of its thread, or else the log is given it
   * again: a log that remembers its id answers with the place, also where it is archived.
   */
  async #find(key: ThreadKey, entry: AuditEntry, segment: RunSegment): Promise<RowAnchor> {
    const bytes = roughBytes(entry.event);
    this.#flow.begin(bytes);
    const place = await this.#placeOf(key, entry.event_id);
    this.#flow.end(bytes);
    return place ?? this.#append(key, entry, segment);
  }

  async #placeOf(key: ThreadKey, eventId: AuditEntry["event_id"]): Promise<RowAnchor | undefined> {
    // By itself: the thread may be locked, and the searches in others are not to wait for it.
    const head = this.#retry.until(() => this.#log.append(key, []));
    const load = head.then(({ ordinal }) => this.#read(key, Math.max(0, ordinal - LAST_ROWS)));
    // Else closed: the run's span waits for good, as if the process had ended here.
    const rows = await load.catch((error: unknown) => (isRowRefused(error) ? NONE : NEVER));
    const row = rows.findLast(({ event_id }) => event_id === eventId);
    return row === undefined ? undefined : { ordinal: row.ordinal, hash: row.hash };
  }

  #read(key: ThreadKey, cursor: number): Promise<readonly AuditRow[]> {
    const rows = this.#reading.then(() =>
      this.#retry.until(() => this.#log.loadSince(key, cursor)),
    );
    this.#reading = rows.catch(() => {});
    return rows;
  }

  /** An id for a row of a line without one: the same whenever the line is read again. */
  #nameOf(): string | null {
    if (this.#source === undefined) return null;
    const { line, text } = this.#source;
    const digest = createHash("sha256").update(text, "utf8").digest("hex");
    return `${line}/${digest.slice(0, 32)}/${this.#nameless++}`;
  }
}

const NONE: readonly AuditRow[] = [];

const NEVER = new Promise<never>(() => {});

const NOWHERE = Promise.resolve(EMPTY_THREAD);
