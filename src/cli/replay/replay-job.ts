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
import {
  type AnyRuntime,
  type DecodedLine,
  DIALECT_NAMES,
  EventIntake,
  EventOrder,
  type EventTakers,
  type LineIssue,
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
import { nearest } from "../nearest.ts";
import { safe } from "../terminal/text.ts";

interface ReplayJobOptions {
  readonly service: ServiceResource;
  readonly outlet: SpanOutlet;
  readonly audit: SessionLog | undefined;
  /** Which rows are written. Default `all`. */
  readonly rows: AuditRows | undefined;
  readonly onSpans: SpanChoices;
  /** Default: those of a bridge. */
  readonly limits?: BridgeOptions["limits"];
  readonly onIssue: (issue: LineIssue) => void;
  readonly onRejected: ((rejected: RejectedLine) => Promise<void>) | undefined;
  /** The runtimes that a source may come from. */
  readonly runtimes: readonly [AnyRuntime, ...AnyRuntime[]];
  /** Tenant of the events that name none. */
  readonly tenant: string;
  /** Called for every event. */
  readonly onEvent: () => void;
  readonly onError: ErrorHook;
}

/** How long an event of sources that grow waits for earlier ones, in ms. */
export const FOLLOW_WAIT_MS = 2_000;

/** Replays sources through one bridge, as one history: their events are put in order together. */
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
      onActivity: ({ dialect, envelope, value }) => {
        this.#players.get(dialect.name)?.keepAlive(value, envelope);
      },
    };
    this.#order = new EventOrder(takers, { maxWaitMs: FOLLOW_WAIT_MS });
  }

  /** Events that were replayed, and those of types that this version does not know. */
  get events(): number {
    return this.#order.events + this.#unknown;
  }

  /** Events that came too late to be put in order. */
  get late(): number {
    return this.#order.report().late;
  }

  /**
   * Reads one source to its end. Its last events wait for those of the next source, or for {@link ReplayJob.release}.
   *
   * @throws SourceReadError when it can't be read to its end; what came before is replayed.
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
   * Reads a source that grows, until it gives no more bytes; gzip is not recognised. The source calls
   * {@link ReplayJob.release} where no more bytes come for now.
   *
   * @throws what `bytes` throws.
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

  /** Replays events that wait for later ones: all, or those that have waited for a while. */
  async release(which: "all" | "old"): Promise<void> {
    await (which === "all" ? this.#order.release() : this.#order.releaseOlder(performance.now()));
    await this.#inFlight.settle();
  }

  /** Ends what is open and passes the last spans on. */
  async end(): Promise<void> {
    await this.#order.release();
    for (const player of this.#players.values()) await player.end();
    await this.#inFlight.settle();
    await this.#bridge.shutdown();
    await this.#options.outlet.close();
  }

  /** What changed nothing, by reason; types that this version does not know among them. */
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

  #take({ dialect, event, envelope }: DecodedLine<RecordedEvent>): Promise<void> | undefined {
    this.#options.onEvent();
    const stored = this.#players.get(dialect.name)?.take(event, envelope);
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

/** Rows that may be on their way to the audit log at once. */
const MOST = 512;

/**
 * Promises that are waited for together: one flush of the audit log serves many rows, so that
 * waiting for each would cost hundreds of flushes.
 */
export class InFlight {
  #pending: Promise<void>[] = [];

  /** Adds a promise. That it rejects is somebody else's to tell. */
  add(promise: Promise<void>): void {
    this.#pending.push(promise.catch(() => {}));
  }

  get full(): boolean {
    return this.#pending.length >= MOST;
  }

  /** Resolves when all that were added so far are settled. */
  async settle(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    await Promise.all(pending);
  }
}

/** The first trouble of each place is told; the summary has how many there were. */
export function onceAPlace(tell: (error: unknown, place: string) => void) {
  const told = new Set<string>();
  return (error: unknown, place: string) => {
    if (told.has(place)) return;
    told.add(place);
    tell(error, place);
  };
}

/**
 * The runtimes that a source may come from.
 *
 * @throws CliError when there is none of this name.
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
