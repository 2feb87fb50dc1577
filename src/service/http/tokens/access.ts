import { Refusal } from "../refusal.ts";
import { isLocalHost, isLoopback } from "../routes.ts";
import type { TokenSet } from "./token-file.ts";

/** A sender of events, and its rights. */
export interface Sender {
  /** Tenant of all its lines. `undefined`: the lines name their tenants. */
  readonly tenant: string | undefined;
  readonly trusted: boolean;
  /** `undefined`: no rate limit. */
  readonly bucket: TokenBucket | undefined;
}

/** Decides access, by tokens, or without tokens if only this machine can reach the service. */
export class Access {
  #tokens: TokenSet | undefined;
  /** Lines per second for tenants whose tokens name no rate. */
  readonly #rate: number | undefined;
  readonly #buckets = new Map<string | undefined, TokenBucket>();

  /** Whether metrics can be read without a token. */
  readonly #openMetrics: boolean;

  /**
   * @param tokens `undefined`: no token is required, and lines name their tenants.
   * @param loopback whether only this machine can reach the service. Metrics then need no token.
   */
  constructor(tokens: TokenSet | undefined, rate: number | undefined, loopback: boolean) {
    this.#tokens = tokens;
    this.#rate = rate;
    this.#openMetrics = loopback;
  }

  /** Whether a token is required. */
  get closed(): boolean {
    return this.#tokens !== undefined;
  }

  get tenants(): ReadonlySet<string> {
    return this.#tokens?.tenants ?? new Set();
  }

  /** Replaces the tokens. Requests that are being read keep the old ones. */
  replace(tokens: TokenSet): void {
    this.#tokens = tokens;
    const { tenants } = tokens;
    for (const tenant of this.#buckets.keys()) {
      if (tenant !== undefined && !tenants.has(tenant)) this.#buckets.delete(tenant);
    }
  }

  /**
   * The sender of a request.
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
   * Checks that the metrics may be read.
   *
   * @param host the request's `Host`. A web page can only reach the service under another name.
   * @throws Refusal `token` or `forbidden`.
   */
  metrics(authorization: string | undefined, host: string | undefined): void {
    if (this.#tokens === undefined || (this.#openMetrics && isLocalHost(host))) return;
    if (known(this.#tokens, authorization).metrics) return;
    throw new Refusal("forbidden", 'expected a token with "metrics": true');
  }

  /**
   * The tenant whose open runs may be read.
   *
   * @param from address of the client.
   * @returns `undefined`: all tenants.
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

/** Size of a burst after a pause, in seconds of the rate. */
const BURST_SECONDS = 5;

/** Limits lines per second, with bursts after pauses. Times are in ms of a steady clock. */
export class TokenBucket {
  #rate: number;
  #level: number;
  #at: number;

  /** @param rate lines per second, above 0. The bucket starts full. */
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

  /** Changes the rate. The level stays, so this allows no new burst. */
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

  /** Takes one line, if there is room. */
  take(nowMs: number): boolean {
    if (!this.hasRoom(nowMs)) return false;
    this.#level -= 1;
    return true;
  }

  /** Seconds until there is room for a second's worth of lines. Less would cause many tiny requests. */
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
