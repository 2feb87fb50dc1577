import {
  CommitQueue,
  LockedDirectory,
  nodeFileLayer,
  type RemovingFileLayer,
} from "../../audit/door.ts";
import { checkWhole } from "../../events/door.ts";
import { type Checkpoint, prepareCheckpoints, writeCheckpoint } from "./checkpoint-file.ts";
import { Followers } from "./followers.ts";
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
  /** A file of this size in bytes is followed by a new one. Default 64 MiB, at least 1,024. */
  readonly segmentBytes?: number;
  /**
   * - `batch`, the default: appends that wait at the same time share one write and one `fdatasync`.
   * - `each`: every append has its own write and `fdatasync`.
   */
  readonly durability?: "batch" | "each";
  /** Minimum number of lines before the checkpoint that are kept. Default 100,000. */
  readonly keep?: number;
  /** Appends are rejected while this many bytes wait to be written. Default 256 MiB. */
  readonly maxPendingBytes?: number;
  /**
   * Called with each damage, which is then skipped. Without it {@link EventJournal.open} and reading reject with a
   * `JournalDamageError`.
   */
  readonly onDamage?: OnJournalDamage;
  /**
   * Called with damaged ranges before opening removes them from their file, even if opening fails afterwards. See
   * {@link EventJournal.torn}.
   */
  readonly onTorn?: OnJournalTorn;
  /** Default: the disk. */
  readonly fileLayer?: RemovingFileLayer;
}

/** The offsets of appended lines. */
export interface Appended {
  readonly first: number;
  readonly last: number;
}

/** Time from a write to a checkpoint that confirms it, if nothing waits to be written, in ms. */
const VERIFY_MS = 1_000;

/**
 * Stores lines on the disk in the order of their arrival. Lines are durable when `append` resolves.
 *
 * The files are `lines-<offset of the first line>.v1.log`, `checkpoint`, and copies of damaged ranges in `torn`. Only
 * the owner can read them. Only one journal at a time may have a directory open. Offsets begin at 0 and have no gaps,
 * except where opening found lines missing.
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
  readonly #followers: Followers;
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
    this.#followers = new Followers(segments, (from) => this.#reader(from));
    const target = { files, directory, segments, segmentBytes };
    this.#writer = new JournalWriter(opened.active, opened.file, target);
    const batch = {
      writer: this.#writer,
      each: durability === "each",
      onWritten: (calls: readonly LineCall[]) => {
        this.#followers.written(calls);
        this.#verifyLater();
      },
    };
    this.#queue = new CommitQueue({ newBatch: () => new LineBatch(batch), failBehind: false });
  }

  /**
   * Opens the journal of a directory, and creates the directory if it is missing. No repair is needed after a crash:
   * damaged ranges of the last write are set aside, see {@link torn}.
   *
   * @throws RangeError for an option out of its range; Error with the code `ELOCKED` if another process, or another
   *   journal here, has it open; `JournalDamageError` for damage that a crash does not explain, without `onDamage`;
   *   Error if it is the directory of an audit log; the system's error.
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

  /** Offset of the first existing line. */
  get first(): number {
    return this.#segments.first;
  }

  /** Offset after the last line on the disk. */
  get next(): number {
    return this.#segments.next;
  }

  /** Bytes of the lines on the disk. */
  get bytes(): number {
    return this.#segments.bytes;
  }

  /** The last checkpoint. `first` before the first one. */
  get position(): number {
    return this.#checkpoint.position;
  }

  /** `stored` of the last checkpoint. Never below `position`. */
  get stored(): number {
    return this.#checkpoint.stored;
  }

  /**
   * Ranges in or after the last write that contain no valid records. Opening copies their bytes, then cuts them off or
   * replaces them by a hole. A crash leaves such ranges where a write was in progress, whose append had not resolved.
   * Other causes look the same.
   */
  get torn(): readonly JournalTorn[] {
    return this.#torn;
  }

  /**
   * Appends lines in order, with no others between them. They are on the disk when it resolves. Callers that wait for
   * it keep little in memory.
   *
   * If it rejects, none of the lines was appended, and the next call may succeed, for example when the disk has room
   * again. If the process dies before it resolves, the first lines may be stored, each complete.
   *
   * @throws RangeError for a line that contains a line feed, has more than 64 MiB, or a name of more than 65,536
   *   characters; nothing is written then. Error with the code `EBUSY` if too much waits; the system's error (`ENOSPC`
   *   …); Error if the journal is closed.
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
   * Reads the lines from an offset, or from the first existing one, to the last one on the disk at the call. Rejects
   * with a `JournalDamageError` for a damaged line, unless `onDamage` is given.
   *
   * @throws RangeError if `from` is not an offset.
   */
  read(from: number): AsyncIterable<LogLine> {
    checkWhole(from, "from");
    return this.#linesUpTo(from, this.next);
  }

  /**
   * Reads the lines from an offset, or from the first existing one, then new ones. Those are not read from the disk,
   * unless more than 8 Mi characters of them wait. A batch has at most 1,000 lines, and ends with the line that fills 1
   * MiB. It ends when the signal is aborted or the journal is closed. Otherwise it is like {@link read}.
   *
   * @throws RangeError if `from` is not an offset.
   */
  follow(from: number, signal: AbortSignal): AsyncIterable<readonly LogLine[]> {
    checkWhole(from, "from");
    return this.#followers.follow(from, signal);
  }

  /**
   * Stores from which offset on lines are needed. The position never decreases. Files with only lines below `position -
   * keep` are removed.
   *
   * @param stored results of all lines below this offset are stored. Default `position`.
   * @throws RangeError if one is not an offset up to `next`; the system's error; Error if the journal is closed.
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

  /** Writes waiting lines, ends followers, and unlocks the directory. */
  close(): Promise<void> {
    this.#closed ??= this.#end();
    this.#followers.close();
    return this.#closed;
  }

  async #end(): Promise<void> {
    clearTimeout(this.#verifying);
    await this.#queue.drained();
    await this.#checkpoints;
    try {
      await this.#writer.close();
      // After a clean shutdown a bad last line is known as damage, not as the result of a crash. The journal is intact
      // without this.
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
      // One at a time, so that a crash never leaves a gap between files.
      await this.#settings.fileLayer.syncDirectory(this.#directory);
    }
  }

  /** Writes the end mark, and a first checkpoint that confirms the lines on the disk. */
  async #prepare(): Promise<void> {
    const now = { ...this.#checkpoint, end: this.next };
    // If the disk is full now, a later write and checkpoint may succeed.
    await this.#writer.mark().catch(() => {});
    try {
      await prepareCheckpoints(this.#settings.fileLayer, this.#directory, now);
      this.#checkpoint = now;
    } catch {
      this.#verifyLater();
    }
  }

  /**
   * Confirms in the checkpoint how much is on the disk, once nothing waits to be written. Damage is distinguished from
   * the results of a crash by it. No write waits for it, and it may fail.
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
}
