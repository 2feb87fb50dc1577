import { setImmediate as nextTurn } from "node:timers/promises";
import {
  Bridge,
  type BridgeInternals,
  createReplayProvider,
  InFlightSet,
  internalsOf,
  MOST_SPANS,
  type OpenRun,
  ReplayFilter,
  Retry,
  SpanExports,
  StoreFlow,
  within,
} from "../../bridge/door.ts";
import { checkWhole, Deferred, fromMilliseconds, RecentMap, tenantKey } from "../../events/door.ts";
import {
  ActivityLine,
  type DecodedLine,
  type DecodeIssue,
  type RecordedEvent,
  RUNTIMES,
  type SignalPlayer,
} from "../../replay/door.ts";
import { decodeAlone, decodeLogLine, placed } from "./decode-log-line.ts";
import { LineOrder } from "./line-order.ts";
import { LogClock } from "./log-clock.ts";
import type {
  LogLine,
  LogProcessorOptions,
  ProcessorFigures,
  ProcessorLine,
} from "./log-processor-options.ts";
import { MOST_ROWS, ProcessorLog } from "./processor-log.ts";
import { isRowRefused } from "./thread-append-queue.ts";

const DIALECTS = RUNTIMES.map(({ dialect }) => dialect);
/** Minimum number of senders whose dialect is remembered. */
const SENDERS = 10_000;
/** Lines between two pauses for other work: a few ms. */
const AT_A_STRETCH = 256;
/** Maximum number of rejected lines that are being stored before reading waits. */
const MOST_REJECTED = 256;

/**
 * Processes the lines of one log in the order of their offsets: spans go to their store, rows to the audit log. After a
 * crash, a new log processor for the same log makes the identical spans and rows, so that none is lost or duplicated.
 *
 * Commit the result of {@link LogProcessor.settle}. Pass it to the next log processor as `from`, and give it lines from
 * some way before it (for example 100,000). These are played without exporting, to rebuild the state about closed runs,
 * earlier events and the dialects' streams. State from further back is missing:
 * - If a run continues after a longer pause, an event is repeated that late, or a child's parent ended before that, the
 *   spans are those of a run whose start was not seen.
 * - In lines without event IDs, the dialects `agent-sdk`, `defect` and `graph` number the runs of their streams. In
 *   streams that began before that, runs get other IDs.
 *
 * A run that was closed by age while no line came, and later gets lines that claim to be older, may end differently
 * after a crash. A log in a directory recognises repeated rows only by the event IDs that it remembers.
 *
 * {@link LogProcessor.take} returns a promise if stores are unavailable and memory is full.
 *
 * @example
 * const processor = new LogProcessor({ name: "journal", from: journal.position, ... });
 * for await (const lines of journal.follow(from - lookback, signal)) {
 *   for (const line of lines) await processor.take(line);
 *   await journal.checkpoint(await processor.settle());
 * }
 * await processor.close(5_000);
 */
export class LogProcessor {
  readonly #options: LogProcessorOptions;
  readonly #stored: number;
  readonly #bridge: Bridge;
  readonly #telemetry: BridgeInternals["telemetry"];
  readonly #players: ReadonlyMap<string, SignalPlayer<RecordedEvent>>;
  readonly #clock = new LogClock();
  readonly #order: LineOrder;
  readonly #inFlight = new InFlightSet();
  readonly #exports: SpanExports;
  readonly #filter: ReplayFilter;
  readonly #log: ProcessorLog | undefined;
  readonly #rejecting: Retry;
  /** For the stores of spans and rows, and for `onRejected`. */
  readonly #flows: {
    readonly spans: StoreFlow;
    readonly rows: StoreFlow;
    readonly rejected: StoreFlow;
  };
  readonly #closed = new AbortController();
  #closing = false;
  /** Rejects pending settles when the log processor is closed. */
  readonly #settling = new Set<(error: unknown) => void>();
  readonly #dialects = new RecentMap<string>(SENDERS);
  #last = 0;
  /** The lowest offset that was not taken completely. */
  #next: number;
  #settledTo: number;
  #storedTo: number;
  /** Wakes callers that wait for room. */
  #room: Deferred<void> | undefined;
  #lines = 0;
  #alreadyExported = 0;
  #events = 0;
  #rejected = 0;
  #unknown = 0;

  /** @throws RangeError if `from`, or a limit of buffer or runs, is not a whole number in its range. */
  constructor(options: LogProcessorOptions) {
    const { audit, delays, from, limits, name, onError, service, tenant } = options;
    checkWhole(from, "from");
    this.#options = options;
    this.#stored = Math.max(from, options.stored ?? from);
    this.#next = from;
    this.#settledTo = from;
    this.#storedTo = this.#stored;
    this.#order = new LineOrder(options.window, this.#clock);
    const closed = this.#closed.signal;
    const retry = (where: string, isFinal?: (error: unknown) => boolean) =>
      new Retry({
        closed,
        onTrouble: (error) => onError(error, `${name}: ${where}`),
        delays,
        isFinal,
      });
    const flow = (most: number) => new StoreFlow(most, () => this.#stepDone());
    this.#flows = { spans: flow(MOST_SPANS), rows: flow(MOST_ROWS), rejected: flow(MOST_REJECTED) };
    this.#exports = new SpanExports(options.spans, this.#flows.spans);
    this.#filter = new ReplayFilter(from, this.#exports, this.#inFlight);
    this.#rejecting = retry("rejected");
    this.#log =
      audit === undefined
        ? undefined
        : new ProcessorLog({
            log: audit,
            filter: this.#filter,
            inFlight: this.#inFlight,
            retry: retry("audit", isRowRefused),
            closed,
            flow: this.#flows.rows,
          });
    this.#bridge = new Bridge({
      mode: "replay",
      tracerProvider: createReplayProvider(service.resource, this.#filter),
      audit: this.#log,
      rows: options.rows,
      ...options.onSpans,
      limits,
      onError: (error, where) => onError(error, `${name}: ${where}`),
    });
    this.#telemetry = internalsOf(this.#bridge).telemetry;
    this.#telemetry.lifecycle.observe(this.#filter);
    this.#telemetry.horizon = () => this.#clock.horizon;
    this.#players = new Map(
      RUNTIMES.map(({ dialect, player }) => [dialect.name, player(this.#bridge, tenant)] as const),
    );
  }

  /**
   * Takes the next line. Calls must not overlap. A line with a lower offset than the last one is skipped. Never throws
   * because of a line.
   *
   * @returns a promise if the caller must wait before the next line.
   */
  take(line: ProcessorLine): Promise<void> | undefined {
    if (this.#closing || line.offset < this.#last) return undefined;
    this.#lines++;
    this.#last = line.offset;
    this.#next = line.more === true ? line.offset : line.offset + 1;
    if (line.offset < this.#stored) this.#alreadyExported++;
    this.#clock.lineArrived(line.arrivedMs);
    this.#look(this.#clock.lastLineMs);
    this.#play(this.#order.arrived());
    this.#decode(line);
    if (this.#isFull) return this.#waitForRoom();
    return this.#lines % AT_A_STRETCH === 0 ? nextTurn() : undefined;
  }

  /**
   * Lets time pass without lines: plays waiting lines, and ages runs. Call it about every second while no line comes.
   *
   * @param nowMs ms since 1970.
   */
  async idle(nowMs: number): Promise<void> {
    if (this.#closing) return;
    this.#look(Date.now());
    this.#play(this.#order.idle(nowMs));
    // A run whose next line is still in the reorder buffer is not idle.
    const at = this.#order.waiting > 0 ? undefined : this.#clock.eventTime(nowMs);
    if (at !== undefined) this.#telemetry.advance(at);
    if (this.#isFull) await this.#waitForRoom();
  }

  /**
   * Stores all results of played lines, for as long as it takes. Lines may be taken meanwhile.
   *
   * @returns the commit position: the lowest offset that is still needed. It never decreases.
   * @throws (rejects) when the log processor is closed.
   */
  async settle(): Promise<number> {
    this.#closed.signal.throwIfAborted();
    const { needed, done } = this.#positions();
    this.#exports.hurry();
    try {
      await new Promise<unknown>((resolve, reject) => {
        this.#settling.add(reject);
        void this.#inFlight.settle().then((settled) => {
          this.#settling.delete(reject);
          resolve(settled);
        });
      });
    } finally {
      this.#exports.relax();
    }
    this.#settledTo = Math.max(this.#settledTo, needed);
    this.#storedTo = Math.max(this.#storedTo, done);
    return this.#settledTo;
  }

  /** The last result of `settle`. `from` before the first. */
  get settled(): number {
    return this.#settledTo;
  }

  /**
   * All results of lines below this offset are stored, as of the last `settle`. As option `stored`, it keeps the next
   * log processor from storing them again.
   */
  get stored(): number {
    return this.#storedTo;
  }

  /** The result that `settle` would have if everything were stored now. */
  get position(): number {
    return Math.max(this.#settledTo, this.#positions().needed);
  }

  get figures(): ProcessorFigures {
    const { ignored, openRuns, tenantConflicts } = this.#bridge.diagnostics();
    const flows = Object.values(this.#flows);
    const { newestMs } = this.#clock;
    const now = Date.now();
    return {
      lines: this.#lines,
      alreadyExported: this.#alreadyExported,
      events: this.#events,
      rejected: this.#rejected,
      unknown: this.#unknown,
      duplicates: ignored.duplicate,
      ignored,
      tenantConflicts,
      late: this.#order.late,
      spansStored: this.#exports.stored,
      spansRefused: this.#exports.refused,
      rowsStored: this.#log?.stored ?? 0,
      rowsRefused: this.#log?.refused ?? 0,
      openRuns,
      waiting: this.#order.waiting,
      inFlight: flows.reduce((sum, { count }) => sum + count, 0),
      stalled: flows.some((flow) => flow.isStalled(now)),
      lagMs: newestMs === 0 ? 0 : Math.max(0, now - newestMs),
    };
  }

  /**
   * The open runs, longest idle first.
   *
   * @param atMs the current time in ms since 1970, for the senders' clocks too.
   */
  openRuns(atMs: number): readonly OpenRun[] {
    return this.#telemetry.openRuns({ limit: Number.POSITIVE_INFINITY }, fromMilliseconds(atMs));
  }

  /**
   * Closes the processor: takes no more lines, settles within `graceMs`, and stops. Open runs stay open: the next
   * processor, from `settled`, opens them again. Never rejects.
   */
  async close(graceMs: number): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    await within(
      graceMs,
      this.settle().catch(() => {}),
    );
    const closed = new Error(`${this.#options.name}: the log processor is closed`);
    this.#closed.abort(closed);
    for (const reject of this.#settling) reject(closed);
    this.#stepDone();
  }

  #decode(line: LogLine): void {
    // Senders of two tenants may use the same key.
    const key = line.key === undefined ? undefined : tenantKey(line.tenant ?? "", line.key);
    const before = key === undefined ? undefined : this.#dialects.get(key);
    const first =
      line.decoded === undefined
        ? decodeLogLine(line, DIALECTS, before)
        : placed(line.decoded, line.offset);
    const undecided = first.issues !== undefined && first.undecided === true;
    const decoded = (undecided ? decodeAlone(line, DIALECTS) : undefined) ?? first;
    if (decoded.issues !== undefined) {
      this.#rejected++;
      if (line.offset >= this.#stored) this.#reject(line, decoded.issues);
      return;
    }
    // A guessed dialect must not decide about later lines.
    if (key !== undefined && decoded === first && decoded.dialect !== before) {
      this.#dialects.set(key, decoded.dialect);
    }
    if (decoded.event !== undefined) this.#play(this.#order.add(decoded.event));
    else if (decoded.unknown !== undefined) {
      this.#unknown++;
      if (decoded.activity !== undefined) this.#play(this.#order.add(decoded.activity));
    }
  }

  /** Plays lines synchronously: nothing may come between lines that were released together. */
  #play(lines: readonly (DecodedLine<RecordedEvent> | ActivityLine<RecordedEvent>)[]): void {
    if (lines.length === 0) return;
    for (const line of lines) {
      this.#filter.beginLine(line.line, line.line < this.#stored);
      if (this.#log !== undefined) this.#log.source = line;
      try {
        this.#playOne(line);
      } catch (error) {
        this.#options.onError(error, `${this.#options.name}: event`);
      }
      this.#clock.eventPlayed(line.at);
    }
    this.#filter.alreadyExported = false;
  }

  #playOne(line: DecodedLine<RecordedEvent> | ActivityLine<RecordedEvent>): void {
    const player = this.#players.get(line.dialect.name);
    if (line instanceof ActivityLine) {
      player?.keepAlive(line.value, line.envelope);
      return;
    }
    this.#events++;
    // Its results are tracked where they are stored.
    player?.take(line.event, line.envelope)?.catch(ignore);
  }

  /** @returns the lowest offset that is needed, and the lowest that was not played. */
  #positions(): { readonly needed: number; readonly done: number } {
    const done = Math.min(this.#order.lowest, this.#next);
    return { needed: Math.min(done, this.#filter.lowWatermark), done };
  }

  /** Passes a rejected line on, until it is stored. */
  #reject(line: LogLine, issues: readonly DecodeIssue[]): void {
    const epoch = this.#inFlight.begin();
    const { length } = line.text;
    this.#flows.rejected.begin(length);
    const stored = this.#rejecting.until(async () => this.#options.onRejected(line, issues));
    // Rejects if this processor is closed. The next one reads the line again.
    void stored.then(() => {
      epoch.end();
      this.#flows.rejected.end(length);
    }, ignore);
  }

  #look(nowMs: number): void {
    const { rejected, rows, spans } = this.#flows;
    spans.look(nowMs);
    rows.look(nowMs);
    rejected.look(nowMs);
  }

  get #isFull(): boolean {
    const { rejected, rows, spans } = this.#flows;
    return spans.full || rejected.full || rows.full;
  }

  #waitForRoom(): Promise<void> {
    this.#room ??= new Deferred();
    return this.#room.promise;
  }

  #stepDone(): void {
    if (this.#room === undefined || (this.#isFull && !this.#closed.signal.aborted)) return;
    this.#room.resolve();
    this.#room = undefined;
  }
}

function ignore(): void {}
