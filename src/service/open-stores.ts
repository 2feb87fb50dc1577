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
 * Minimum number of event IDs that the log in a directory remembers, about 300 bytes each. After a crash, a service can
 * send this many rows again without writing one twice. PostgreSQL has no such bound.
 */
const EVENT_IDS = 250_000;
/**
 * How long the stores may take to close, in ms. Later results are not reported; the next start sends these spans and
 * rows again.
 */
const CLOSE_MS = 3_000;

interface StoreOptions {
  /** Base URL of an OTLP/HTTP receiver. `undefined`: spans are dropped. */
  readonly endpoint: string | undefined;
  /** A directory, or `postgres://…`. `undefined`: no audit log. */
  readonly audit: string | undefined;
  /** Called with temporary errors of stores, and with rejected spans and rows. */
  readonly onError: ErrorHook;
}

/** The span store and the audit log of a service. */
export interface Stores {
  readonly spans: SpanStore;
  readonly audit: SessionLog | undefined;
  /** Call it after all log processors have closed. Waits 3 s at most. */
  close(): Promise<void>;
}

/**
 * Opens the stores of the options.
 *
 * @throws (rejects) TypeError if the endpoint is not an http or https URL, or `audit` is empty, `-` or another URL than
 *   PostgreSQL's; with the error of the audit log if it cannot be opened, such as a directory in use or a database that
 *   does not answer.
 */
export async function openStores({ audit, endpoint, onError }: StoreOptions): Promise<Stores> {
  const url = endpoint === undefined ? undefined : tracesUrl(endpoint);
  const log = audit === undefined ? undefined : await openLog(audit, onError);
  const spans = url === undefined ? noSpanStore : new OtlpSpanStore({ url, onError });
  return {
    spans,
    audit: log,
    close: async () => {
      // An error of the log must not shorten the wait for spans.
      const logClosed = log?.close().catch((error: unknown) => onError(error, "audit log"));
      await within(CLOSE_MS, Promise.all([spans.close(), logClosed]));
    },
  };
}

async function openLog(target: string, onError: ErrorHook): Promise<ClosableLog> {
  const report = (error: unknown) => onError(error, "audit log");
  // `--audit=$DIR` with an empty DIR would otherwise mean the working directory.
  if (target === "") throw new TypeError("expected a directory or postgres://…, got nothing");
  // In commands, `-` is standard output.
  if (target === "-") throw new TypeError("expected a directory or postgres://…, got -");
  if (!isPostgresUrl(target)) {
    const scheme = urlScheme(target);
    if (scheme !== undefined) {
      throw new TypeError(`expected a directory or postgres://…, got ${scheme}…`);
    }
    return NdjsonSessionLog.open(target, { eventIds: EVENT_IDS, onError: report });
  }
  // Loaded on demand: it needs the optional package `pg`.
  const { PostgresSessionLog } = await import("../audit/postgres/postgres-session-log.ts");
  return PostgresSessionLog.open({ connection: target, onError: report });
}

interface ClosableLog extends SessionLog {
  close(): Promise<void>;
}
