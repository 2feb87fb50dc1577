import { createHash, timingSafeEqual } from "node:crypto";
import {
  JsonSyntaxError,
  JsonTextParser,
  type JsonValue,
  MOST_NAME,
} from "../../../events/door.ts";
import { isJsonObject, type JsonObject } from "../../../replay/door.ts";

const DIGEST = /^[0-9a-fA-F]{64}$/;
const FIELDS = new Set(["tenant", "sha256", "trusted", "rate", "metrics", "runs"]);

/** A tokens file that cannot be used. */
class TokenFileError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "TokenFileError";
  }
}

/**
 * Parses a tokens file. Unknown and repeated fields are errors: a misspelt `metrics`, or a second `tenant`, would
 * change the meaning.
 *
 * @throws TokenFileError with the entry and field, or with the line of invalid JSON or a repeated field.
 */
export function parseTokens(text: string): readonly TokenEntry[] {
  const file = parsed(text);
  const list = isJsonObject(file) ? file.tokens : undefined;
  if (!Array.isArray(list) || list.length === 0) {
    throw new TokenFileError('tokens: expected a list of entries, as in {"tokens":[{…}]}');
  }
  const seen = new Map<string, number>();
  return list.map((value, at) => {
    const where = `tokens[${at}]`;
    if (!isJsonObject(value)) throw new TokenFileError(`${where}: expected an object`);
    const entry = entryOf(value, where);
    const digest = entry.digest.toString("hex");
    const before = seen.get(digest);
    if (before !== undefined) {
      throw new TokenFileError(`${where}.sha256: expected another than that of tokens[${before}]`);
    }
    seen.set(digest, at);
    return entry;
  });
}

function parsed(text: string): JsonValue {
  try {
    return new JsonTextParser(text, { repeats: false }).parse();
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause;
    const before = text.slice(0, cause.position).split("\n");
    const position = `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
    throw new TokenFileError(`${position}: expected ${cause.expected}`, { cause });
  }
}

function entryOf(value: JsonObject, where: string): TokenEntry {
  for (const field of Object.keys(value)) {
    if (FIELDS.has(field)) continue;
    const known = [...FIELDS].join(", ");
    throw new TokenFileError(`${where}.${field}: expected no field but ${known}`);
  }
  const { tenant, sha256, rate } = value;
  if (typeof sha256 !== "string" || !DIGEST.test(sha256)) {
    throw new TokenFileError(`${where}.sha256: expected 64 hex digits, the SHA-256 of the token`);
  }
  const metrics = flag(value.metrics, `${where}.metrics`);
  const runs = flag(value.runs, `${where}.runs`);
  // Audit rows have no longer tenant. They would be rejected long after the line was accepted.
  const isTenant = typeof tenant === "string" && tenant !== "" && tenant.length <= MOST_NAME;
  if (tenant !== undefined && !isTenant) {
    throw new TokenFileError(
      `${where}.tenant: expected non-empty text of at most ${MOST_NAME} characters`,
    );
  }
  if (tenant === undefined && !metrics && !runs) {
    const expected = 'expected a tenant, "metrics": true or "runs": true';
    throw new TokenFileError(`${where}.tenant: ${expected}`);
  }
  if (rate !== undefined && (typeof rate !== "number" || !Number.isFinite(rate) || rate <= 0)) {
    throw new TokenFileError(`${where}.rate: expected lines a second, above 0`);
  }
  return {
    tenant,
    digest: Buffer.from(sha256, "hex"),
    trusted: flag(value.trusted, `${where}.trusted`),
    rate,
    metrics,
    runs,
  };
}

function flag(value: JsonValue | undefined, where: string): boolean {
  if (value === undefined) return false;
  if (typeof value === "boolean") return value;
  throw new TokenFileError(`${where}: expected true or false`);
}

/** One known token: only its hash. */
export interface TokenEntry {
  /** Tenant of the events that it may send. `undefined` if it may only read. */
  readonly tenant: string | undefined;
  /** SHA-256 of the token's UTF-8 bytes. */
  readonly digest: Buffer;
  /** Whether a `traceparent` of its lines is followed. */
  readonly trusted: boolean;
  /** Lines per second of the tenant. `undefined`: the command's default. */
  readonly rate: number | undefined;
  /** Whether it may read `/metrics`. */
  readonly metrics: boolean;
  /** Whether it may read the open runs of all tenants. */
  readonly runs: boolean;
}

/** The hash of a token, as in a tokens file. */
export function tokenDigest(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;

/** The current tokens. */
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

  /** The highest rate in a tenant's tokens. */
  rateOf(tenant: string): number | undefined {
    let highest: number | undefined;
    for (const entry of this.#entries) {
      if (entry.tenant !== tenant || entry.rate === undefined) continue;
      highest = Math.max(highest ?? 0, entry.rate);
    }
    return highest;
  }

  /** The entry of the token in an `Authorization` header. Hashes are compared with every entry in constant time. */
  find(authorization: string | undefined): TokenEntry | undefined {
    const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
    if (token === undefined) return undefined;
    const digest = tokenDigest(token);
    let found: TokenEntry | undefined;
    for (const entry of this.#entries) {
      // No early exit: the time must not depend on the matching entry.
      if (timingSafeEqual(entry.digest, digest)) found = entry;
    }
    return found;
  }
}
