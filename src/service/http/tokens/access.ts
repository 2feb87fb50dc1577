import { isLocalHost } from "../local-host.ts";
import { Refusal } from "../refusal.ts";
import { TokenBucket } from "../token-bucket.ts";
import type { TokenSet } from "./token-set.ts";

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
      throw new Refusal("forbidden", "expected a token of a tenant; this one reads /metrics");
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
