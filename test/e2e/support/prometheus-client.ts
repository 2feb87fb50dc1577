import { fetchJson, fetchText } from "./http.ts";
import { field, list, text, texts } from "./json-shape.ts";

/** One element of an instant vector. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface AlertState {
  readonly labels: Readonly<Record<string, string>>;
  readonly state: string;
}

export interface RuleState {
  readonly name: string;
  readonly type: string;
  readonly query: string;
  readonly health: string;
  readonly lastError: string;
  readonly group: string;
}

/** Asks a Prometheus by its HTTP API. */
export class PrometheusClient {
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  async ready(): Promise<void> {
    await fetchText(`${this.#base}/-/ready`);
  }

  /**
   * An instant query: a vector, or a scalar as its one element without labels.
   *
   * @param at seconds since 1970; now by default.
   */
  async query(query: string, at?: number): Promise<Sample[]> {
    const form = new URLSearchParams({ query, ...(at === undefined ? {} : { time: String(at) }) });
    const data = await this.#get(`/api/v1/query?${form}`);
    if (text(data, "resultType") === "scalar") {
      return [{ labels: {}, value: sampleValue(field(data, "result")) }];
    }
    return list(data, "result").map((element) => ({
      labels: texts(element, "metric"),
      value: sampleValue(field(element, "value")),
    }));
  }

  /** The value of a query whose answer has exactly one element; undefined when it has none. */
  async value(query: string): Promise<number | undefined> {
    const [only, another] = await this.query(query);
    if (another !== undefined) throw new Error(`${query}: expected one element`);
    return only?.value;
  }

  /** The label sets of the series that match, over all the time that is stored. */
  async series(...matchers: string[]): Promise<Record<string, string>[]> {
    const form = new URLSearchParams(
      matchers.map((matcher): [string, string] => ["match[]", matcher]),
    );
    const data = await this.#get(`/api/v1/series?${form}`);
    return asList(data, "series").map((labels) => texts({ labels }, "labels"));
  }

  /** The names of all metrics that are stored. */
  async metricNames(): Promise<string[]> {
    const data = await this.#get("/api/v1/label/__name__/values");
    return asList(data, "names").map((name) => text({ name }, "name"));
  }

  /** The alerts that are pending or firing. */
  async alerts(): Promise<AlertState[]> {
    return list(await this.#get("/api/v1/alerts"), "alerts").map((alert) => ({
      labels: texts(alert, "labels"),
      state: text(alert, "state"),
    }));
  }

  async rules(): Promise<RuleState[]> {
    return list(await this.#get("/api/v1/rules"), "groups").flatMap((group) =>
      list(group, "rules").map((rule) => ({
        name: text(rule, "name"),
        type: text(rule, "type"),
        query: text(rule, "query"),
        health: text(rule, "health"),
        lastError: String(field(rule, "lastError") ?? ""),
        group: text(group, "name"),
      })),
    );
  }

  /** The scrape targets: job and whether the last scrape worked. */
  async targets(): Promise<{ job: string; url: string; health: string; error: string }[]> {
    return list(await this.#get("/api/v1/targets?state=active"), "activeTargets").map((target) => ({
      job: text(target, "scrapePool"),
      url: text(target, "scrapeUrl"),
      health: text(target, "health"),
      error: text(target, "lastError"),
    }));
  }

  async #get(path: string): Promise<unknown> {
    const answer = await fetchJson(this.#base + path);
    if (text(answer, "status") !== "success") throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return field(answer, "data");
  }
}

function asList(data: unknown, name: string): unknown[] {
  return list({ [name]: data }, name);
}

/** Prometheus writes `[seconds, "value"]`. */
function sampleValue(pair: unknown): number {
  const [, value] = asList(pair, "value");
  if (typeof value !== "string") throw new TypeError("expected a value as text");
  return value === "+Inf"
    ? Number.POSITIVE_INFINITY
    : value === "-Inf"
      ? Number.NEGATIVE_INFINITY
      : Number(value);
}
