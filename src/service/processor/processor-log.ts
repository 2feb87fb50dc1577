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

/** Minimum number of stored rows that are remembered, to recognise repeated ones. */
const REMEMBERED = 20_000;
/** Maximum number of rows that are being stored. */
export const MOST_ROWS = 4_096;
/** Number of last rows of a thread that are searched for a stored row. */
const LAST_ROWS = 256;

/** The source of the ID of a row without an event ID. */
interface RowSource {
  readonly line: number;
  readonly text: string;
}

interface ProcessorLogOptions {
  readonly log: SessionLog;
  readonly filter: ReplayFilter;
  readonly inFlight: InFlightSet;
  /** Must treat {@link isRowRefused} errors as final. */
  readonly retry: Retry;
  readonly closed: AbortSignal;
  /** Counts rows that are being stored or searched. */
  readonly flow: StoreFlow;
}

/**
 * The audit log as the bridge of a log processor uses it. It retries, and skips rows that were stored before a restart.
 */
export class ProcessorLog implements SessionLog {
  /** The line of a row identifies it, even among equal rows and after a restart. */
  readonly namesRows = true;
  stored = 0;
  refused = 0;
  /** Bytes of stored rows whose position may be requested. */
  #heldBytes = 0;
  readonly #log: SessionLog;
  readonly #filter: ReplayFilter;
  readonly #inFlight: InFlightSet;
  readonly #retry: Retry;
  readonly #appends: ThreadAppendQueue;
  readonly #flow: StoreFlow;
  /** The last read for a search. One at a time, because rows may be large. */
  #reading: Promise<unknown> = Promise.resolve();
  /** The last rows that were stored already. */
  readonly #seen = new RecentMap<true>(REMEMBERED);
  #source: RowSource | undefined;
  /** Number of rows of the source without an event ID. */
  #nameless = 0;

  constructor({ closed, filter, flow, inFlight, log, retry }: ProcessorLogOptions) {
    this.#log = log;
    this.#filter = filter;
    this.#inFlight = inFlight;
    this.#retry = retry;
    this.#appends = new ThreadAppendQueue(log, retry, closed);
    this.#flow = flow;
  }

  /** Sets the line of the following rows. */
  set source(source: RowSource | undefined) {
    this.#source = source;
    this.#nameless = 0;
  }

  append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    const [only, another] = entries;
    // An empty append is a probe. Only agents that wait for the log need its state.
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
    // Searching on demand is cheaper, but keeps the row in memory until then.
    if (this.#heldBytes + bytes > MOST_BYTES) return find();
    const anchor = segment.remember(thread, repeated, find);
    if (anchor === undefined) return NOWHERE;
    this.#heldBytes += bytes;
    const release = () => {
      this.#heldBytes -= bytes;
    };
    anchor.then(release, release);
    return anchor;
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
   * The position of a stored row. If it is not among the last rows of its thread, it is appended again: a log that
   * remembers its ID returns its position, even if it is archived.
   */
  async #find(key: ThreadKey, entry: AuditEntry, segment: RunSegment): Promise<RowAnchor> {
    const bytes = roughBytes(entry.event);
    this.#flow.begin(bytes);
    const anchor = await this.#anchorOf(key, entry.event_id);
    this.#flow.end(bytes);
    return anchor ?? this.#append(key, entry, segment);
  }

  async #anchorOf(key: ThreadKey, eventId: AuditEntry["event_id"]): Promise<RowAnchor | undefined> {
    // Without the queue of appends: the thread may be locked, and searches in others must not wait for it.
    const head = this.#retry.until(() => this.#log.append(key, []));
    const load = head.then(({ ordinal }) => this.#read(key, Math.max(0, ordinal - LAST_ROWS)));
    // Otherwise closed: the run's span waits forever, as if the process had ended here.
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

  /** An ID for a row of a line without one. It is the same on each reading. */
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
