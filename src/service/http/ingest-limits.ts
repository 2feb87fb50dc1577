/** What the HTTP door takes, and how long it waits. Sizes in bytes, times in ms. */
export interface IngestLimits {
  /** Longest line; a longer one is rejected, and the rest of its body goes on. Default 1 MiB. */
  readonly maxLineBytes: number;
  /** Longest body, as it comes and after decompression. Default 64 MiB. */
  readonly maxBodyBytes: number;
  /** Lines a body may have, blank ones too. Default 50,000. */
  readonly maxLines: number;
  /** Connections that may send events at one time. Default 256. */
  readonly maxConnections: number;
  /** Bytes of lines that are accepted and still needed, above which there is a 503. Default 4 GiB. */
  readonly maxBacklogBytes: number;
  /**
   * Memory of compressed bodies that wait for their checksum, of all connections. One body of the longest
   * kind always has room. Default 256 MiB.
   */
  readonly maxHeldBytes: number;
  /** Until the head of a request is there. Default 10,000. */
  readonly headersMs: number;
  /** Between two pieces of a body, or of an answer that is read. Default 30,000. */
  readonly idleMs: number;
  /** Until a body is there. Default 300,000. */
  readonly requestMs: number;
}

export const DEFAULT_INGEST_LIMITS: IngestLimits = {
  maxLineBytes: 1024 * 1024,
  maxBodyBytes: 64 * 1024 * 1024,
  maxLines: 50_000,
  maxConnections: 256,
  maxBacklogBytes: 4 * 1024 * 1024 * 1024,
  maxHeldBytes: 256 * 1024 * 1024,
  headersMs: 10_000,
  idleMs: 30_000,
  requestMs: 300_000,
};

/**
 * Connections beyond `maxConnections` that are still answered: so that a flood of senders is told to
 * come again, and does not hide `/healthz` and `/metrics`. Beyond them, a new connection takes the place of the one
 * that was idle longest.
 */
export const SPARE_CONNECTIONS = 32;
