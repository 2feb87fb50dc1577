import type { AddressInfo } from "node:net";
import type { AuditRows, SessionLog } from "../../audit/door.ts";
import {
  IdCache,
  type ServiceResource,
  type SpanChoices,
  type SpanStore,
} from "../../bridge/door.ts";
import { RUNTIMES } from "../../replay/door.ts";
import { EventJournal } from "../journal/event-journal.ts";
import type { OnJournalTorn } from "../journal/journal-damage.ts";
import { LogProcessor } from "../processor/log-processor.ts";
import { EventGate } from "./event-gate.ts";
import type { IngestLimits } from "./ingest-limits.ts";
import { IngestFigures, metricsText } from "./ingest-metrics.ts";
import { IngestServer } from "./ingest-server.ts";
import { Backlog, JournalFeed, type Recovered, recoverJournal } from "./journal-feed.ts";
import { Refusal } from "./refusal.ts";
import { isLoopback, OPENAPI_TEXT } from "./routes.ts";
import { Access } from "./tokens/access.ts";
import type { TokenEntry } from "./tokens/token-file.ts";
import { TokenSet } from "./tokens/token-file.ts";

interface IngestServiceOptions {
  /** Directory of the journal. */
  readonly journal: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** `undefined`: no token is required, and the host must be a loopback address. */
  readonly tokens: readonly TokenEntry[] | undefined;
  /** Lines per second for tenants whose tokens name no rate. `undefined`: no limit. */
  readonly rate: number | undefined;
  /** Tenant of events that name none, from senders without a tenant. */
  readonly tenant: string;
  readonly service: ServiceResource;
  readonly spans: SpanStore;
  readonly audit: SessionLog | undefined;
  /** The audit rows to make. Default `all`. */
  readonly rows?: AuditRows | undefined;
  readonly onSpans: SpanChoices;
  /** Lines before the journal's position that a start plays again, without exporting them again. */
  readonly lookback: number;
  /** Idle event time after which a run is closed, in ms. */
  readonly runAgeMs: number;
  readonly limits: IngestLimits;
  readonly onError: (error: unknown, where: string) => void;
  /** Called with damaged parts of the journal that the start sets aside, even if it fails then. */
  readonly onTorn: OnJournalTorn;
}

/** Time limit for open requests at the shutdown, in ms. */
const DRAIN_MS = 10_000;
/** Time limit to play and store accepted lines at the shutdown, in ms. */
const STORE_MS = 6_000;
/** Minimum number of remembered event IDs. Resent events are recognised by them. */
const ACCEPTED_IDS = 1_000_000;
/** How long after a failed append the service is not ready, in ms. */
const STORE_TROUBLE_MS = 15_000;

/** HTTP server, journal and processor. Acknowledged lines are durable in the journal, and are played from there. */
export class IngestService {
  readonly recovered: Recovered;
  readonly address: AddressInfo;
  readonly #access: Access;
  readonly #feed: JournalFeed;
  readonly #figures: IngestFigures;
  readonly #journal: EventJournal;
  readonly #server: IngestServer;

  private constructor(parts: {
    readonly recovered: Recovered;
    readonly address: AddressInfo;
    readonly access: Access;
    readonly feed: JournalFeed;
    readonly figures: IngestFigures;
    readonly journal: EventJournal;
    readonly server: IngestServer;
  }) {
    this.recovered = parts.recovered;
    this.address = parts.address;
    this.#access = parts.access;
    this.#feed = parts.feed;
    this.#figures = parts.figures;
    this.#journal = parts.journal;
    this.#server = parts.server;
  }

  /**
   * Opens the journal, reads it, and listens for requests.
   *
   * @throws RangeError if `host` is not a loopback address and there are no tokens; errors of the journal; an error of
   *   the system, such as EADDRINUSE.
   */
  static async start(options: IngestServiceOptions): Promise<IngestService> {
    const { audit, host, limits, lookback, onError, onTorn, port, service, spans, tenant } =
      options;
    const loopback = isLoopback(host);
    if (options.tokens === undefined && !loopback) {
      throw new RangeError(`host: expected a loopback address where there are no tokens`);
    }
    const journal = await EventJournal.open(options.journal, { keep: lookback, onTorn });
    const dialects = RUNTIMES.map(({ dialect }) => dialect);
    const figures = new IngestFigures();
    const backlog = new Backlog();
    // The cache is allocated at full size: growing would delay requests.
    const ids = new IdCache(ACCEPTED_IDS, ACCEPTED_IDS);
    let feed: JournalFeed | undefined;
    try {
      const recovered = await recoverJournal(journal, ids, backlog, dialects, tenant);
      const processor = new LogProcessor({
        name: "journal",
        from: journal.position,
        stored: journal.stored,
        tenant,
        service,
        spans,
        audit,
        rows: options.rows,
        onSpans: options.onSpans,
        limits: { maxAgeMs: options.runAgeMs },
        // Lines were checked before they were accepted, so a rejection here is an internal error.
        onRejected: (line, [issue]) =>
          onError(
            new Error(`${issue?.field ?? "line"}: expected ${issue?.expected ?? "an event"}`),
            `journal line ${line.offset}`,
          ),
        onError,
      });
      feed = new JournalFeed({
        journal,
        processor,
        lookback,
        onSettled: (position) => backlog.settle(position),
        onError,
      });
      const refusal = () =>
        backlog.bytes < limits.maxBacklogBytes
          ? undefined
          : new Refusal("backlog", "too much is accepted and not stored yet");
      let troubleMs = Number.NEGATIVE_INFINITY;
      const gate = new EventGate({
        journal,
        ids,
        backlog,
        refusal,
        onAppend: (error) => {
          troubleMs = error === undefined ? Number.NEGATIVE_INFINITY : performance.now();
          if (error === undefined) return;
          figures.journalErrors += 1;
          onError(error, "journal");
        },
      });
      const unready = () =>
        performance.now() - troubleMs < STORE_TROUBLE_MS
          ? new Refusal("store", "the journal can't be written at this time")
          : refusal();
      const tokens = options.tokens === undefined ? undefined : new TokenSet(options.tokens);
      const access = new Access(tokens, options.rate, loopback);
      const server: IngestServer = new IngestServer({
        limits,
        access,
        gate,
        figures,
        dialects,
        tenant,
        refusal,
        unready,
        openRuns: (atMs) => processor.openRuns(atMs),
        metrics: () =>
          metricsText({
            figures,
            processor: processor.figures,
            heldBytes: server.heldBytes,
            connections: server.connections,
            ready: !server.draining && unready() === undefined,
            journal,
            recovered,
            backlogBytes: backlog.bytes,
          }),
        openapi: OPENAPI_TEXT,
        onError,
      });
      const address = await server.listen(host, port);
      return new IngestService({ recovered, address, access, feed, figures, journal, server });
    } catch (error) {
      await feed?.stop(0);
      await journal.close();
      throw error;
    }
  }

  /** Rejects if accepted lines can't be played any more. Resolves after {@link stop}. */
  get ended(): Promise<void> {
    return this.#feed.ended;
  }

  /**
   * Replaces the tokens.
   *
   * @param read reads the new tokens. If it rejects, the old ones stay.
   * @throws errors of `read`.
   */
  async reloadTokens(read: () => Promise<readonly TokenEntry[]>): Promise<void> {
    try {
      this.#access.replace(new TokenSet(await read()));
      this.#figures.tokenReloads += 1;
    } catch (error) {
      this.#figures.tokenReloadErrors += 1;
      throw error;
    }
  }

  /**
   * Shuts down: accepts no more, finishes requests, plays and stores accepted lines, and closes the journal. Open runs
   * stay open in the journal. Takes 20 s at most.
   */
  async stop(): Promise<void> {
    await this.#server.drain(DRAIN_MS);
    await this.#feed.stop(STORE_MS);
    await this.#journal.close();
  }
}
