import { Refusal } from "../refusal.ts";
import { isLocalHost, isLoopback } from "../routes.ts";
import type { TokenSet } from "./token-file.ts";

/** Who sends events, and what that lets them do. */
export interface Sender {
  /** Bound to their lines; `undefined`: as the lines say. */
  readonly tenant: string | undefined;
  readonly trusted: boolean;
  /** `undefined`: as many lines as they like. */
  readonly bucket: TokenBucket | undefined;
}

/** Who may do what: by tokens, or without any where only this machine can reach the service. */
export class Access {
  #tokens: TokenSet | undefined;
  /** Lines a second of a tenant whose tokens name none. */
  readonly #rate: number | undefined;
  readonly #buckets = new Map<string | undefined, TokenBucket>();

  /** Whether anyone who can reach the service may read its metrics. */
  readonly #openMetrics: boolean;

  /**
   * @param tokens `undefined`: anyone who can reach the service is whom their lines say.
   * @param loopback only this machine can reach the service: metrics need no token.
   */
  constructor(tokens: TokenSet | undefined, rate: number | undefined, loopback: boolean) {
    this.#tokens = tokens;
    this.#rate = rate;
    this.#openMetrics = loopback;
  }

  /** Whether a token is asked for. */
  get closed(): boolean {
    return this.#tokens !== undefined;
  }

  get tenants(): ReadonlySet<string> {
    return this.#tokens?.tenants ?? new Set();
  }

  /** From here on these are the tokens. What is being read goes on with the old ones. */
  replace(tokens: TokenSet): void {
    this.#tokens = tokens;
    const { tenants } = tokens;
    for (const tenant of this.#buckets.keys()) {
      if (tenant !== undefined && !tenants.has(tenant)) this.#buckets.delete(tenant);
    }
  }

  /**
   * Who sends a request.
   *
   * @throws Refusal `token` or `forbidden`.
   */
  sender(authorization: string | undefined): Sender {
    const tokens = this.#tokens;
    if (tokens === undefined) {
      const bucket = this.#bucket(undefined, this.#rate);
      return { tenant: undefined, trusted: true, bucket };
    }
    const { tenant, trusted } = known(tokens, authorization);
    if (tenant === undefined) {
      throw new Refusal("forbidden", "expected a token of a tenant; this one may only read");
    }
    return { tenant, trusted, bucket: this.#bucket(tenant, tokens.rateOf(tenant) ?? this.#rate) };
  }

  /**
   * @param host the request's `Host`: a page in a browser gets here by a name of its own.
   * @throws Refusal unless the metrics may be read.
   */
  metrics(authorization: string | undefined, host: string | undefined): void {
    if (this.#tokens === undefined || (this.#openMetrics && isLocalHost(host))) return;
    if (known(this.#tokens, authorization).metrics) return;
    throw new Refusal("forbidden", 'expected a token with "metrics": true');
  }

  /**
   * Whose open runs may be read: those of a token's own tenant, or of all.
   *
   * @param from address of the other end of the connection.
   * @returns the tenant; `undefined`: all.
   * @throws Refusal `token` or `forbidden`.
   */
  runs(authorization: string | undefined, from: string | undefined): string | undefined {
    const tokens = this.#tokens;
    if (tokens === undefined) {
      if (from !== undefined && isLoopback(from)) return undefined;
      throw new Refusal("forbidden", "expected a connection from this machine");
    }
    const { runs, tenant } = known(tokens, authorization);
    if (runs) return undefined;
    if (tenant !== undefined) return tenant;
    throw new Refusal("forbidden", 'expected a token of a tenant, or one with "runs": true');
  }

  #bucket(tenant: string | undefined, rate: number | undefined): TokenBucket | undefined {
    if (rate === undefined) {
      this.#buckets.delete(tenant);
      return undefined;
    }
    const now = performance.now();
    let bucket = this.#buckets.get(tenant);
    if (bucket === undefined) {
      bucket = new TokenBucket(rate, now);
      this.#buckets.set(tenant, bucket);
    } else if (bucket.rate !== rate) bucket.setRate(rate, now);
    return bucket;
  }
}

function known(tokens: TokenSet, authorization: string | undefined) {
  const entry = tokens.find(authorization);
  if (entry !== undefined) return entry;
  const expected = authorization === undefined ? "a token" : "a token that is known";
  throw new Refusal("token", `expected ${expected}, as in Authorization: Bearer …`);
}

/** How many seconds' worth of lines may come at once after a pause. */
const BURST_SECONDS = 5;

/** So many lines a second, with a burst after a pause. Time is passed in, in ms of any steady clock. */
export class TokenBucket {
  #rate: number;
  #level: number;
  #at: number;

  /** @param rate lines a second, above 0. It starts full. */
  constructor(rate: number, nowMs: number) {
    this.#rate = rate;
    this.#level = this.#most;
    this.#at = nowMs;
  }

  get #most(): number {
    return Math.max(1, this.#rate * BURST_SECONDS);
  }

  get rate(): number {
    return this.#rate;
  }

  /** What was left stays left: a new rate is no new burst. */
  setRate(rate: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#rate = rate;
    this.#level = Math.min(this.#level, this.#most);
  }

  /** Whether there is room for a line. */
  hasRoom(nowMs: number): boolean {
    this.#fill(nowMs);
    return this.#level >= 1;
  }

  /** Takes one line, if there is room for it. */
  take(nowMs: number): boolean {
    if (!this.hasRoom(nowMs)) return false;
    this.#level -= 1;
    return true;
  }

  /** Until there is room for a second's worth of lines, in s: less would be a crawl of tiny requests. */
  wait(nowMs: number): number {
    this.#fill(nowMs);
    return Math.max(0, (Math.max(1, this.#rate) - this.#level) / this.#rate);
  }

  #fill(nowMs: number): void {
    const passed = Math.max(0, nowMs - this.#at);
    this.#at = Math.max(this.#at, nowMs);
    this.#level = Math.min(this.#most, this.#level + (passed / 1000) * this.#rate);
  }
}
