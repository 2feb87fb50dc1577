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
  /** Folder of the journal. */
  readonly journal: string;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** `undefined`: none is asked for, and the host must be a loopback address. */
  readonly tokens: readonly TokenEntry[] | undefined;
  /** Lines a second of a tenant whose tokens name no rate; `undefined`: no limit. */
  readonly rate: number | undefined;
  /** Tenant of events that name none, from senders that are bound to none. */
  readonly tenant: string;
  readonly service: ServiceResource;
  readonly spans: SpanStore;
  readonly audit: SessionLog | undefined;
  /** Which audit rows are made. Default `all`. */
  readonly rows?: AuditRows | undefined;
  readonly onSpans: SpanChoices;
  /** Lines before the position that are played again at a start, without exporting them again. */
  readonly lookback: number;
  /** Silence of event time after which a run is over, in ms. */
  readonly runAgeMs: number;
  readonly limits: IngestLimits;
  readonly onError: (error: unknown, where: string) => void;
  /** Called with the damaged places of the journal that the start sets aside, also where it fails then. */
  readonly onTorn: OnJournalTorn;
}

/** How long requests may take to come to their end when the service ends, in ms. */
const DRAIN_MS = 10_000;
/** How long what is accepted may take to be played and stored then, in ms. */
const STORE_MS = 6_000;
/** Event ids remembered, at least: what is sent again need not be written again. */
const ACCEPTED_IDS = 1_000_000;
/** So long after an append that failed the service is not ready, in ms: then it may be tried again. */
const STORE_TROUBLE_MS = 15_000;

/** HTTP door, journal and processor: what is acknowledged is durable, and is played from there. */
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
   * Opens the journal, learns what is in it, and takes requests.
   *
   * @throws RangeError when `host` is no loopback address and there are no tokens; what opening the
   * journal throws; an error of the system, such as EADDRINUSE.
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
    // It has its room from the start: to grow takes too long between two requests.
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
        // Lines were checked before they were accepted: one that is rejected here is a fault.
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

  /** Rejects when what is accepted can't be played any more; resolves after {@link stop}. */
  get ended(): Promise<void> {
    return this.#feed.ended;
  }

  /**
   * From here on these are the tokens.
   *
   * @param read reads them; when it rejects, the tokens stay as they are, and so does this.
   * @throws what `read` threw.
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
   * Takes no more, lets requests come to their end, plays and stores what is accepted, and closes the
   * journal. Open runs stay open there. It takes 20 s at most.
   */
  async stop(): Promise<void> {
    await this.#server.drain(DRAIN_MS);
    await this.#feed.stop(STORE_MS);
    await this.#journal.close();
  }
}
