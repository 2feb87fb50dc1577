import type { AuditRows, SessionLog } from "../../audit/door.ts";
import {
  Bridge,
  type BridgeOptions,
  createReplayProvider,
  type Diagnostics,
  type ErrorHook,
  type ServiceResource,
  type SpanChoices,
  type SpanOutlet,
} from "../../bridge/door.ts";
import { nearest } from "../../events/door.ts";
import {
  type AnyRuntime,
  type DecodedLine,
  DIALECT_NAMES,
  EventIntake,
  EventOrder,
  type EventTakers,
  type LineEnvelope,
  type LineIssue,
  type OrderedLine,
  parseLine,
  type RecordedEvent,
  type RejectedLine,
  RUNTIMES,
  readSource,
  type SignalPlayer,
  SourceReadError,
  type SourceReport,
  splitLines,
  textBytes,
} from "../../replay/door.ts";
import { CliError } from "../cli-error.ts";
import { safe } from "../terminal/text.ts";

interface ReplayJobOptions {
  readonly service: ServiceResource;
  readonly outlet: SpanOutlet;
  readonly audit: SessionLog | undefined;
  /** Which rows are written. Default: `all`. */
  readonly rows: AuditRows | undefined;
  readonly onSpans: SpanChoices;
  /** Default: the limits of a bridge. */
  readonly limits?: BridgeOptions["limits"];
  readonly onIssue: (issue: LineIssue) => void;
  readonly onRejected: ((rejected: RejectedLine) => Promise<void>) | undefined;
  /** Runtimes whose dialects a source may have. */
  readonly runtimes: readonly [AnyRuntime, ...AnyRuntime[]];
  /** Tenant of events without a tenant. */
  readonly tenant: string;
  /** Called for every event. */
  readonly onEvent: () => void;
  /** Called with each line before it is played. Default: not called. */
  readonly onLine?: ((line: OrderedLine<RecordedEvent>) => void) | undefined;
  readonly onError: ErrorHook;
}

/** How long an event of a growing source waits for earlier events, in ms. */
export const FOLLOW_WAIT_MS = 2_000;

/** Replays sources through one bridge. The events of all sources are put in order together. */
export class ReplayJob {
  rejected = 0;
  readonly unknownTypes = new Map<string, number>();
  readonly unknownValues = new Map<string, number>();
  readonly rejectedFields = new Map<string, number>();
  readonly #options: ReplayJobOptions;
  readonly #bridge: Bridge;
  readonly #inFlight = new InFlight();
  readonly #players: ReadonlyMap<string, SignalPlayer<RecordedEvent>>;
  readonly #order: EventOrder<RecordedEvent>;
  #unknown = 0;

  constructor(options: ReplayJobOptions) {
    this.#options = options;
    this.#bridge = new Bridge({
      mode: "replay",
      tracerProvider: createReplayProvider(options.service.resource, options.outlet),
      audit: options.audit,
      rows: options.rows,
      ...options.onSpans,
      limits: options.limits,
      onError: options.onError,
      shutdownTimeoutMs: 60_000,
    });
    const players = options.runtimes.map(
      ({ dialect, player }) => [dialect.name, player(this.#bridge, options.tenant)] as const,
    );
    this.#players = new Map(players);
    const takers: EventTakers<RecordedEvent> = {
      onEvent: (item) => this.#take(item),
      onActivity: (line) => {
        options.onLine?.(line);
        const { dialect, envelope, value } = line;
        this.#players.get(dialect.name)?.keepAlive(value, envelope);
      },
    };
    this.#order = new EventOrder(takers, { maxWaitMs: FOLLOW_WAIT_MS });
  }

  /** Replayed events, and events of unknown types. */
  get events(): number {
    return this.#order.events + this.#unknown;
  }

  /** Events that were too late to be put in order. */
  get late(): number {
    return this.#order.report().late;
  }

  /**
   * Reads a source to its end. Its last events wait for the next source or {@link ReplayJob.release}.
   *
   * @throws SourceReadError if it cannot be read to its end. Earlier lines are replayed.
   */
  async read(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const intake = this.#intake(name);
    const cut = await readSource(bytes, intake);
    const report = intake.report();
    this.#add(report);
    if (cut !== undefined) {
      throw new SourceReadError(name, cut, { ...report, ...this.#order.report() });
    }
  }

  /**
   * Reads a growing source until `bytes` ends. Does not detect gzip. The caller has to call {@link ReplayJob.release}
   * while no bytes arrive.
   *
   * @throws errors of `bytes`.
   */
  async follow(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const intake = this.#intake(name);
    for await (const batch of splitLines(textBytes(bytes, (piece) => piece))) {
      this.#order.arrivedMs = performance.now();
      for (const part of batch) {
        const busy = intake.take(part);
        if (busy !== undefined) await busy;
      }
    }
    await intake.end();
    this.#add(intake.report());
  }

  /** Replays waiting events: all, or those that have waited for {@link FOLLOW_WAIT_MS}. */
  async release(which: "all" | "old"): Promise<void> {
    await (which === "all" ? this.#order.release() : this.#order.releaseOlder(performance.now()));
    await this.#inFlight.settle();
  }

  /** Replays waiting events, ends open runs, and closes the bridge and the outlet. */
  async end(): Promise<void> {
    await this.#order.release();
    for (const player of this.#players.values()) await player.end();
    await this.#inFlight.settle();
    await this.#bridge.shutdown();
    await this.#options.outlet.close();
  }

  /** Events without effect, by reason. */
  get ignored(): Readonly<Record<string, number>> {
    const { ignored } = this.diagnostics();
    return {
      ...ignored,
      duplicate: ignored.duplicate + this.#order.report().repeated,
      unknown_type: ignored.unknown_type + this.#unknown,
    };
  }

  diagnostics(): Diagnostics {
    return this.#bridge.diagnostics();
  }

  #intake(name: string): EventIntake<RecordedEvent> {
    const { onIssue, runtimes } = this.#options;
    const [first, ...others] = runtimes;
    const options = {
      name,
      dialects: [first.dialect, ...others.map(({ dialect }) => dialect)] as const,
      onUnknown: () => void this.#unknown++,
      onIssue,
      onRejected: (rejected: RejectedLine) => this.#reject(rejected),
    };
    return new EventIntake(options, this.#order);
  }

  /**
   * Plays a line that another job played before: its order and its dialect are known.
   *
   * @returns a promise if rows are being stored.
   */
  playAgain(text: string, dialect: string): Promise<void> | undefined {
    const { value } = parseLine(text);
    const runtime = this.#options.runtimes.find((each) => each.dialect.name === dialect);
    if (value === undefined || runtime === undefined) return undefined;
    const decoded = runtime.dialect.decode(value);
    if (decoded.outcome === "event") return this.#play(dialect, decoded.event, decoded.envelope);
    const activity = runtime.dialect.activityOf?.(value, undefined);
    if (activity !== undefined) this.#players.get(dialect)?.keepAlive(value, activity.envelope);
    return undefined;
  }

  /** Resolves when the rows of all lines so far are stored, so that the spans that wait for them have ended. */
  settled(): Promise<void> {
    return this.#inFlight.settle();
  }

  #take(line: DecodedLine<RecordedEvent>): Promise<void> | undefined {
    this.#options.onEvent();
    this.#options.onLine?.(line);
    return this.#play(line.dialect.name, line.event, line.envelope);
  }

  #play(dialect: string, event: RecordedEvent, envelope: LineEnvelope): Promise<void> | undefined {
    const stored = this.#players.get(dialect)?.take(event, envelope);
    if (stored !== undefined) this.#inFlight.add(stored);
    return this.#inFlight.full || this.#options.outlet.full ? this.#makeRoom() : undefined;
  }

  async #makeRoom(): Promise<void> {
    if (this.#inFlight.full) await this.#inFlight.settle();
    if (this.#options.outlet.full) await this.#options.outlet.drain();
  }

  #reject(rejected: RejectedLine): Promise<void> | undefined {
    if (rejected.last) this.rejected++;
    return this.#options.onRejected?.(rejected);
  }

  #add(report: SourceReport): void {
    addCounts(this.unknownTypes, report.unknownTypes);
    addCounts(this.unknownValues, report.unknownValues);
    addCounts(this.rejectedFields, report.issues);
  }
}

function addCounts(to: Map<string, number>, counts: ReadonlyMap<string, number>): void {
  for (const [name, count] of counts) to.set(name, (to.get(name) ?? 0) + count);
}

/** Most rows that are being written to the audit log at once. */
const MOST = 512;

/**
 * Collects promises of rows and waits for them together, because one flush of the audit log stores many rows.
 */
export class InFlight {
  #pending: Promise<void>[] = [];

  /** Adds a promise. Its rejection is ignored: the bridge reports it. */
  add(promise: Promise<void>): void {
    this.#pending.push(promise.catch(() => {}));
  }

  get full(): boolean {
    return this.#pending.length >= MOST;
  }

  /** Resolves when all promises added so far are settled. */
  async settle(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    await Promise.all(pending);
  }
}

/** Reports only the first error of each operation, for example `span export`. The summary counts all. */
export function oncePerOperation(report: (error: unknown, operation: string) => void) {
  const reported = new Set<string>();
  return (error: unknown, operation: string) => {
    if (reported.has(operation)) return;
    reported.add(operation);
    report(error, operation);
  };
}

/**
 * The runtimes for a value of `--dialect`.
 *
 * @throws CliError for an unknown name.
 */
export function runtimesNamed(name = "auto"): readonly [AnyRuntime, ...AnyRuntime[]] {
  if (name === "auto") return RUNTIMES;
  const runtime = RUNTIMES.find(({ dialect }) => dialect.name === name);
  if (runtime !== undefined) return [runtime];
  const meant = nearest(name, DIALECT_NAMES);
  throw new CliError(
    `--dialect: expected one of ${DIALECT_NAMES.join(", ")}; got "${safe(name)}"`,
    meant === undefined ? undefined : `Did you mean ${meant}?`,
  );
}
