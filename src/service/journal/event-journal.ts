import {
  CommitQueue,
  LockedDirectory,
  nodeFileLayer,
  type RemovingFileLayer,
} from "../../audit/door.ts";
import { checkWhole } from "../../events/door.ts";
import { type Checkpoint, prepareCheckpoints, writeCheckpoint } from "./checkpoint-file.ts";
import {
  type JournalTorn,
  type OnJournalDamage,
  type OnJournalTorn,
  refuseDamage,
} from "./journal-damage.ts";
import { JournalReader } from "./journal-reader.ts";
import { JournalWriter, LineBatch, type LineCall } from "./journal-writer.ts";
import { checkLines, type LogLine, type NewLine } from "./log-line.ts";
import { type OpenedJournal, openJournal } from "./open-journal.ts";
import { SegmentList } from "./segment-list.ts";

export interface EventJournalOptions {
  /** A new file is begun when one has this many bytes. Default 64 MiB, at least 1,024. */
  readonly segmentBytes?: number;
  /**
   * - `batch`, the default: the appends that wait at a time share one write and one `fdatasync`.
   * - `each`: an append has a write and an `fdatasync` of its own.
   */
  readonly durability?: "batch" | "each";
  /** Lines before the checkpoint that are kept, at least. Default 100,000. */
  readonly keep?: number;
  /** An append is refused while this many bytes wait to be written. Default 256 MiB. */
  readonly maxPendingBytes?: number;
  /**
   * Called with each damage, which is then skipped. Without it {@link EventJournal.open} and
   * reading reject with a `JournalDamageError`.
   */
  readonly onDamage?: OnJournalDamage;
  /**
   * Called with the places that opening sets aside, before it changes their file, even if opening fails
   * afterwards. See {@link EventJournal.torn}.
   */
  readonly onTorn?: OnJournalTorn;
  /** Default: the disk. */
  readonly fileLayer?: RemovingFileLayer;
}

/** The offsets that lines were given. */
export interface Appended {
  readonly first: number;
  readonly last: number;
}

/** Time from a write until the checkpoint says that it is on the disk, in ms, if nothing waits then. */
const VERIFY_MS = 1_000;

/**
 * Lines in the order they came, on the disk: what `append` has resolved is there after any crash.
 *
 * The files are `lines-<offset of the first line>.v1.log`, `checkpoint`, and copies of damaged places
 * in `torn`, readable by the owner alone. One journal at a time may have a directory open. Offsets
 * begin at 0 and have no gaps, except where opening found lines missing.
 *
 * @example
 * const journal = await EventJournal.open("/var/lib/entelix-otel/journal");
 * const line = { tenant: "acme", dialect: undefined, key: undefined, trusted: false, text: "{}" };
 * const { last } = await journal.append([line]);
 * for await (const each of journal.read(journal.position)) console.log(each.offset, each.text);
 * await journal.checkpoint(last + 1);
 * await journal.close();
 */
export class EventJournal {
  readonly #directory: string;
  readonly #settings: Required<EventJournalOptions>;
  readonly #lock: LockedDirectory;
  readonly #queue: CommitQueue<LineCall>;
  readonly #segments: SegmentList;
  readonly #torn: readonly JournalTorn[];
  readonly #waiting = new Set<() => void>();
  readonly #writer: JournalWriter;
  #checkpoint: Checkpoint;
  #verifying: NodeJS.Timeout | undefined;
  #checkpoints: Promise<void> = Promise.resolve();
  #closed: Promise<void> | undefined;

  private constructor(
    directory: string,
    opened: OpenedJournal,
    lock: LockedDirectory,
    settings: Required<EventJournalOptions>,
  ) {
    const { durability, fileLayer: files, segmentBytes } = settings;
    this.#directory = directory;
    this.#settings = settings;
    this.#lock = lock;
    this.#checkpoint = opened.checkpoint;
    this.#torn = opened.torn;
    const segments = new SegmentList(opened.sealed, opened.active);
    this.#segments = segments;
    const target = { files, directory, segments, segmentBytes };
    this.#writer = new JournalWriter(opened.active, opened.file, target);
    const batch = {
      writer: this.#writer,
      each: durability === "each",
      onWritten: () => {
        this.#wake();
        this.#verifyLater();
      },
    };
    this.#queue = new CommitQueue({ newBatch: () => new LineBatch(batch), failBehind: false });
  }

  /**
   * Opens the journal of a directory, and makes the directory if it is missing. No repair is needed after a crash:
   * what is damaged in the last write is set aside, see {@link torn}.
   *
   * @throws RangeError for an option out of its range; Error with the code `ELOCKED` when another
   *   process, or another journal here, has it open; `JournalDamageError` when something is damaged
   *   that a crash does not explain, and no `onDamage` is given; Error when it is the folder of an
   *   audit log; the system's error.
   */
  static async open(directory: string, options: EventJournalOptions = {}): Promise<EventJournal> {
    const given = {
      segmentBytes: options.segmentBytes ?? 64 * 1024 * 1024,
      durability: options.durability ?? "batch",
      keep: options.keep ?? 100_000,
      maxPendingBytes: options.maxPendingBytes ?? 256 * 1024 * 1024,
      onDamage: options.onDamage ?? refuseDamage,
      onTorn: options.onTorn ?? (() => {}),
      fileLayer: options.fileLayer ?? nodeFileLayer,
    };
    checkWhole(given.segmentBytes, "segmentBytes", 1024);
    checkWhole(given.keep, "keep");
    checkWhole(given.maxPendingBytes, "maxPendingBytes", 1);
    const { fileLayer: files, onDamage, onTorn } = given;
    await files.makeDirectory(directory);
    const lock = await LockedDirectory.lock(files, directory);
    try {
      return await lock.whileOpening(async () => {
        const opened = await openJournal({ files, directory, onDamage, onTorn });
        const journal = new EventJournal(directory, opened, lock, given);
        await journal.#prepare();
        return journal;
      });
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Offset of the first line that is there. */
  get first(): number {
    return this.#segments.first;
  }

  /** The offset behind the last line that is on the disk. */
  get next(): number {
    return this.#segments.next;
  }

  /** Bytes of the lines on the disk. */
  get bytes(): number {
    return this.#segments.bytes;
  }

  /** The last checkpoint; `first` before any. */
  get position(): number {
    return this.#checkpoint.position;
  }

  /** What the last checkpoint said to be stored; never below `position`. */
  get stored(): number {
    return this.#checkpoint.stored;
  }

  /**
   * Places in the last write, or behind it, where opening found no records. Their bytes are copied, then
   * cut off or replaced by a hole. A crash leaves them where a write was on its way, which no append had
   * resolved; that it was so, nothing tells.
   */
  get torn(): readonly JournalTorn[] {
    return this.#torn;
  }

  /**
   * Adds lines, in order, with no others between them. They are on the disk when it resolves. That is
   * the back-pressure: a sender that waits for it keeps little in memory.
   *
   * When it rejects none of the lines is there, and the next call may work: the disk has room again. A
   * process that dies before it resolves may leave the first some of the lines, whole.
   *
   * @throws RangeError for a line with a line feed in it, of more than 64 MiB, or with a name of more
   *   than 65,536 characters: nothing is written then; Error with the code `EBUSY` when too much
   *   waits; the system's error (`ENOSPC` …); Error when the journal is closed.
   */
  async append(lines: readonly NewLine[]): Promise<Appended> {
    this.#checkOpen();
    checkLines(lines);
    if (lines.length === 0) return { first: this.next, last: this.next - 1 };
    const { bytes } = this.#queue;
    const { maxPendingBytes } = this.#settings;
    if (bytes >= maxPendingBytes) {
      const waits = `${bytes} bytes wait to be written, expected below ${maxPendingBytes}`;
      throw Object.assign(new Error(waits), { code: "EBUSY" });
    }
    const call: LineCall = { lines, arrivedMs: Date.now(), first: 0 };
    await this.#queue.push(call).written;
    return { first: call.first, last: call.first + lines.length - 1 };
  }

  /**
   * The lines from an offset, or from the first that is there, to those on the disk when it is called.
   * It rejects with a `JournalDamageError` where a line is not what was written, unless `onDamage` is
   * given.
   *
   * @throws RangeError when `from` is no offset.
   */
  read(from: number): AsyncIterable<LogLine> {
    checkWhole(from, "from");
    return this.#linesUpTo(from, this.next);
  }

  /**
   * The lines from an offset, or from the first that is there, then those that come. Each batch has at
   * most 1,000 lines and ends with the one that makes it 1 MiB. It ends when the signal is aborted or
   * the journal is closed; other than that it is as {@link read}.
   *
   * @throws RangeError when `from` is no offset.
   */
  follow(from: number, signal: AbortSignal): AsyncIterable<readonly LogLine[]> {
    checkWhole(from, "from");
    return this.#batchesFrom(from, signal);
  }

  /**
   * Remembers, safe on the disk, from where lines are needed; it never moves back. Files with nothing
   * but lines below `position - keep` are removed.
   *
   * @param stored what came of all lines below it is stored. Default `position`.
   * @throws RangeError when one is no offset up to `next`; the system's error; Error when the journal
   *   is closed.
   */
  async checkpoint(position: number, stored = position): Promise<void> {
    this.#checkOpen();
    for (const [field, value] of Object.entries({ position, stored })) {
      checkWhole(value, field);
      if (value <= this.next) continue;
      throw new RangeError(`${field}: expected at most ${this.next}, got ${value}`);
    }
    const done = this.#checkpoints.then(() => this.#moveOn(position, stored));
    this.#checkpoints = done.catch(() => {});
    return done;
  }

  /** Writes what waits, ends what follows, and gives the directory free. */
  close(): Promise<void> {
    this.#closed ??= this.#end();
    this.#wake();
    return this.#closed;
  }

  async #end(): Promise<void> {
    clearTimeout(this.#verifying);
    await this.#queue.drained();
    await this.#checkpoints;
    try {
      await this.#writer.close();
      // After a clean end a bad last line is known for damage, and not taken for a crash's remains.
      // The journal is whole without that.
      if (this.next > this.#checkpoint.end) await this.#remember(this.#checkpoint).catch(() => {});
    } finally {
      await this.#lock.release();
    }
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw new Error(`${this.#directory}: the journal is closed`);
  }

  async #moveOn(position: number, stored: number): Promise<void> {
    const moved = {
      position: Math.max(position, this.position),
      stored: Math.max(stored, position, this.stored),
    };
    if (moved.position > this.position || moved.stored > this.stored) await this.#remember(moved);
    for (;;) {
      const oldest = this.#segments.wholeBelow(this.position - this.#settings.keep);
      if (oldest === undefined) return;
      await this.#settings.fileLayer.remove(oldest.path);
      this.#segments.dropOldest();
      // One after the other, so that a crash never leaves a hole between two.
      await this.#settings.fileLayer.syncDirectory(this.#directory);
    }
  }

  /** Makes sure of the end mark and of room for checkpoints; the first one says what is on the disk. */
  async #prepare(): Promise<void> {
    const now = { ...this.#checkpoint, end: this.next };
    // Where there is no room now, the next write and checkpoint may find some.
    await this.#writer.mark().catch(() => {});
    try {
      await prepareCheckpoints(this.#settings.fileLayer, this.#directory, now);
      this.#checkpoint = now;
    } catch {
      this.#verifyLater();
    }
  }

  /**
   * Writes into the checkpoint how much is on the disk, once nothing waits to be written. It separates damage
   * from what a crash leaves. No write waits for it, and it may fail.
   */
  #verifyLater(): void {
    if (this.#verifying !== undefined || this.#closed !== undefined) return;
    if (this.next <= this.#checkpoint.end) return;
    this.#verifying = setTimeout(() => {
      this.#checkpoints = this.#checkpoints.then(() => this.#verify());
    }, VERIFY_MS).unref();
  }

  async #verify(): Promise<void> {
    const isDue = this.#queue.idle && this.next > this.#checkpoint.end;
    if (isDue) await this.#remember(this.#checkpoint).catch(() => {});
    this.#verifying = undefined;
    this.#verifyLater();
  }

  async #remember({ position, stored }: Omit<Checkpoint, "end">): Promise<void> {
    const checkpoint = { position, stored, end: this.next };
    await writeCheckpoint(this.#settings.fileLayer, this.#directory, checkpoint);
    this.#checkpoint = checkpoint;
    await this.#lock.reserve();
  }

  #reader(from: number): JournalReader {
    const options = {
      files: this.#settings.fileLayer,
      segments: this.#segments,
      onDamage: this.#settings.onDamage,
    };
    return new JournalReader(from, options);
  }

  async *#linesUpTo(from: number, until: number): AsyncGenerator<LogLine, void, void> {
    const reader = this.#reader(from);
    try {
      for await (const batch of reader.upTo(until)) {
        for (const line of batch) {
          if (line.offset >= until) return;
          yield line;
        }
      }
    } finally {
      await reader.close();
    }
  }

  async *#batchesFrom(
    from: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly LogLine[], void, void> {
    const reader = this.#reader(from);
    const ended = () => signal.aborted || this.#closed !== undefined;
    try {
      while (!ended()) {
        for await (const batch of reader.upTo(this.next)) {
          yield batch;
          if (ended()) return;
        }
        await this.#wakeUp(signal, () => ended() || this.next > reader.at);
      }
    } finally {
      await reader.close();
    }
  }

  /** Resolves when something has happened that may make `ready` true, or at once when it is. */
  async #wakeUp(signal: AbortSignal, ready: () => boolean): Promise<void> {
    if (ready()) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
