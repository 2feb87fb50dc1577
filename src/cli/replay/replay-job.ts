import type { AuditRows } from "../../audit/row-selection.ts";
import type { SessionLog } from "../../audit/session-log.ts";
import { textBytes } from "../../ingest/byte-source.ts";
import type { DecodedLine, LineIssue } from "../../ingest/decode-line.ts";
import {
  EventIntake,
  type ReadEventsOptions,
  type ReadReport,
  type RejectedLine,
} from "../../ingest/event-intake.ts";
import { DEFAULT_MAX_LINE_BYTES, splitLines } from "../../ingest/ndjson-reader.ts";
import { readEvents, SourceReadError } from "../../ingest/read-events.ts";
import { Bridge, type BridgeOptions } from "../../otel/bridge.ts";
import type { Diagnostics } from "../../otel/diagnostics.ts";
import type { ServiceResource } from "../../otel/replay/replay-provider.ts";
import { createReplayProvider } from "../../otel/replay/replay-provider.ts";
import type { SpanOutlet } from "../../otel/replay/span-outlet.ts";
import type { ErrorHook } from "../../otel/report.ts";
import type { SignalPlayer } from "../../otel/signal-player.ts";
import type { SpanChoices } from "../../otel/telemetry-options.ts";
import {
  type AnyRuntime,
  DIALECT_NAMES,
  type RecordedEvent,
  RUNTIMES,
} from "../../runtimes/runtimes.ts";
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

/** Has events replayed that wait for later ones. */
export type Release = (which: "all" | "old") => Promise<void>;

/** How long an event of a source that grows waits for earlier ones, in ms. */
export const FOLLOW_WAIT_MS = 2_000;

/** Replays sources one after the other through one bridge, as one history. */
export class ReplayJob {
  events = 0;
  rejected = 0;
  late = 0;
  readonly unknownTypes = new Map<string, number>();
  readonly unknownValues = new Map<string, number>();
  readonly rejectedFields = new Map<string, number>();
  readonly #options: ReplayJobOptions;
  readonly #bridge: Bridge;
  readonly #inFlight = new InFlight();
  readonly #players: ReadonlyMap<string, SignalPlayer<RecordedEvent>>;
  #unknown = 0;
  #repeated = 0;

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
  }

  /**
   * Replays one source to its end.
   *
   * @throws SourceReadError when it can't be read to its end; what came before is replayed.
   */
  async read(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const reading = readEvents(bytes, this.#reading(name));
    try {
      this.#add(await reading);
    } catch (error) {
      // What came before the end that is missing counts too.
      if (error instanceof SourceReadError) this.#add(error.report);
      throw error;
    }
  }

  /**
   * Replays a source that grows, until it gives no more bytes. It is no gzip data.
   *
   * @param grow gives its bytes. It calls `release` with `all` where no more come for now: then the events are replayed
   *   that wait for later ones. With `old` only those are that have waited for a while.
   * @throws what `grow` throws.
   */
  async follow(name: string, grow: (release: Release) => AsyncIterable<Uint8Array>): Promise<void> {
    const options = { ...this.#reading(name), window: { maxWaitMs: FOLLOW_WAIT_MS } };
    const intake = new EventIntake(options, name, DEFAULT_MAX_LINE_BYTES);
    const release = async (which: "all" | "old") => {
      await (which === "all" ? intake.release() : intake.releaseOlder(performance.now()));
      await this.#inFlight.settle();
    };
    for await (const batch of splitLines(textBytes(grow(release), (bytes) => bytes))) {
      intake.arrivedMs = performance.now();
      for (const part of batch) {
        const busy = intake.take(part);
        if (busy !== undefined) await busy;
      }
    }
    await intake.end();
    this.#add(intake.report());
  }

  /** Ends what is open and passes the last spans on. */
  async end(): Promise<void> {
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
      duplicate: ignored.duplicate + this.#repeated,
      unknown_type: ignored.unknown_type + this.#unknown,
    };
  }

  diagnostics(): Diagnostics {
    return this.#bridge.diagnostics();
  }

  #reading(name: string): ReadEventsOptions<RecordedEvent> {
    const { onIssue, runtimes } = this.#options;
    const [first, ...others] = runtimes;
    return {
      name,
      dialects: [first.dialect, ...others.map(({ dialect }) => dialect)],
      onEvent: (item) => this.#take(item),
      onUnknown: () => {
        this.events++;
        this.#unknown++;
      },
      onActivity: ({ dialect, envelope, value }) => {
        this.#players.get(dialect.name)?.keepAlive(value, envelope);
      },
      onIssue,
      onRejected: (rejected) => this.#reject(rejected),
    };
  }

  #take({ dialect, event, envelope }: DecodedLine<RecordedEvent>): Promise<void> | undefined {
    this.events++;
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

  #add(report: ReadReport): void {
    this.late += report.late;
    this.events += report.repeated;
    this.#repeated += report.repeated;
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
