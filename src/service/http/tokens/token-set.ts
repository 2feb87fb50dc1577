import { timingSafeEqual } from "node:crypto";
import { type TokenEntry, tokenDigest } from "./token-entry.ts";

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;

/** The tokens that are known at this time. */
export class TokenSet {
  readonly #entries: readonly TokenEntry[];

  constructor(entries: readonly TokenEntry[]) {
    this.#entries = entries;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** The tenants that may send, each once. */
  get tenants(): ReadonlySet<string> {
    return new Set(this.#entries.flatMap(({ tenant }) => tenant ?? []));
  }

  /** The highest rate that a tenant's tokens name. */
  rateOf(tenant: string): number | undefined {
    let highest: number | undefined;
    for (const entry of this.#entries) {
      if (entry.tenant !== tenant || entry.rate === undefined) continue;
      highest = Math.max(highest ?? 0, entry.rate);
    }
    return highest;
  }

  /**
   * The entry of the token in an `Authorization` header. Hashes are compared, each with every entry,
   * in a time that does not tell where they differ nor which one it was.
   */
  find(authorization: string | undefined): TokenEntry | undefined {
    const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
    if (token === undefined) return undefined;
    const digest = tokenDigest(token);
    let found: TokenEntry | undefined;
    for (const entry of this.#entries) {
      // No way out of the loop here: how long it takes must not depend on which entry it is.
      if (timingSafeEqual(entry.digest, digest)) found = entry;
    }
    return found;
  }
}
