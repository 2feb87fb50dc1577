import { createHash } from "node:crypto";

/** One token that is known: never the token itself, only its hash. */
export interface TokenEntry {
  /** Whose events it may send; `undefined` for one that may only read `/metrics`. */
  readonly tenant: string | undefined;
  /** SHA-256 of the token's UTF-8 bytes. */
  readonly digest: Buffer;
  /** Whether a `traceparent` of its lines is followed. */
  readonly trusted: boolean;
  /** Lines a second of the tenant; `undefined`: as the command says. */
  readonly rate: number | undefined;
  /** Whether it may read `/metrics`. */
  readonly metrics: boolean;
}

/** The hash that a tokens file has of a token. */
export function tokenDigest(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}
