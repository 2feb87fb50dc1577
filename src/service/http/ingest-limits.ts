/** Limits of the HTTP server. Sizes in bytes, times in ms. */
export interface IngestLimits {
  /** Longest line. A longer one is rejected, and the rest of its body is read. Default 1 MiB. */
  readonly maxLineBytes: number;
  /** Longest body, as received and after decompression. Default 64 MiB. */
  readonly maxBodyBytes: number;
  /** Maximum number of lines of a body, including blank ones. Default 50,000. */
  readonly maxLines: number;
  /** Maximum number of connections that send events. Default 256. */
  readonly maxConnections: number;
  /** Bytes of accepted lines that are not stored yet. Above it, senders get a 503. Default 4 GiB. */
  readonly maxBacklogBytes: number;
  /**
   * Memory for compressed bodies that wait for their checksum, of all connections. It always fits one body of maximum
   * length. Default 256 MiB.
   */
  readonly maxHeldBytes: number;
  /** Time limit for the head of a request. Default 10,000. */
  readonly headersMs: number;
  /** Longest pause within a body, or while an answer is read. Default 30,000. */
  readonly idleMs: number;
  /** Time limit for a whole body. Default 300,000. */
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
 * Connections beyond `maxConnections` that are still answered, so that too many senders get an error and do not hide
 * `/healthz` and `/metrics`. Beyond these, a new connection replaces the one that was idle longest.
 */
export const SPARE_CONNECTIONS = 32;
