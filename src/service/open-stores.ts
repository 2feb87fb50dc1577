import { isPostgresUrl, NdjsonSessionLog, type SessionLog, urlScheme } from "../audit/door.ts";
import {
  type ErrorHook,
  noSpanStore,
  OtlpSpanStore,
  type SpanStore,
  tracesUrl,
  within,
} from "../bridge/door.ts";

/**
 * Event ids that the log in a directory remembers, at least: about 300 bytes each. A service may come
 * again to as many rows after a crash without writing one twice; PostgreSQL has no such bound.
 */
const EVENT_IDS = 250_000;
/**
 * How long the stores may take to come to their end, in ms. What they store from then on is not reported:
 * it comes again at the next start.
 */
const CLOSE_MS = 3_000;

interface StoreOptions {
  /** Base URL of an OTLP/HTTP receiver; `undefined`: spans go nowhere. */
  readonly endpoint: string | undefined;
  /** A directory, or `postgres://…`; `undefined`: no audit log. */
  readonly audit: string | undefined;
  /** Called with stores that fail for the moment, and with what they refuse for good. */
  readonly onError: ErrorHook;
}

/** Where a service stores what it makes of events. */
export interface Stores {
  readonly spans: SpanStore;
  readonly audit: SessionLog | undefined;
  /** Call it when no log processor is left. A store that does not answer is not waited for. */
  close(): Promise<void>;
}

/**
 * Opens the stores that the options name.
 *
 * @throws (rejects) TypeError where the endpoint is no http or https URL, or the audit log's place empty,
 *   `-`, or a URL but not PostgreSQL's; with the audit log's error where that can't be opened: a directory
 *   that is in use, a database that does not answer.
 */
export async function openStores({ audit, endpoint, onError }: StoreOptions): Promise<Stores> {
  const url = endpoint === undefined ? undefined : tracesUrl(endpoint);
  const log = audit === undefined ? undefined : await openLog(audit, onError);
  const spans = url === undefined ? noSpanStore : new OtlpSpanStore({ url, onError });
  return {
    spans,
    audit: log,
    close: async () => {
      // A log that can't be marked as closed is no reason to wait for the spans any shorter.
      const logClosed = log?.close().catch((error: unknown) => onError(error, "audit log"));
      await within(CLOSE_MS, Promise.all([spans.close(), logClosed]));
    },
  };
}

async function openLog(place: string, onError: ErrorHook): Promise<ClosableLog> {
  const report = (error: unknown) => onError(error, "audit log");
  // `--audit=$DIR` with nothing in DIR: it would be the folder that the service happens to run in.
  if (place === "") throw new TypeError("expected a directory or postgres://…, got nothing");
  // A command's `-` is standard output.
  if (place === "-") throw new TypeError("expected a directory or postgres://…, got -");
  if (!isPostgresUrl(place)) {
    const scheme = urlScheme(place);
    if (scheme !== undefined) {
      throw new TypeError(`expected a directory or postgres://…, got ${scheme}…`);
    }
    return NdjsonSessionLog.open(place, { eventIds: EVENT_IDS, onError: report });
  }
  // Not before it is asked for: it needs the optional package `pg`.
  const { PostgresSessionLog } = await import("../audit/postgres/postgres-session-log.ts");
  return PostgresSessionLog.open({ connection: place, onError: report });
}

interface ClosableLog extends SessionLog {
  close(): Promise<void>;
}
