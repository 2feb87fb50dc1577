import { fetchJson, HttpStatusError } from "./http.ts";
import { list, text } from "./json-shape.ts";
import { type StoredSpan, storedSpans } from "./stored-span.ts";

export interface TagSearch {
  readonly service: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly operation?: string;
}

/** Asks Jaeger by its query API. */
export class JaegerClient {
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  async services(): Promise<string[]> {
    const answer = await fetchJson(`${this.#base}/api/services`);
    return list(answer, "data").map((name) => text({ name }, "name"));
  }

  /** All spans of a trace, as often as Jaeger shows them; none when it does not know the trace. */
  async trace(traceId: string): Promise<StoredSpan[]> {
    try {
      return storedSpans(await fetchJson(`${this.#base}/api/v3/traces/${traceId}`));
    } catch (error) {
      if (error instanceof HttpStatusError && error.status === 404) return [];
      throw error;
    }
  }

  /** The ids of the traces that Jaeger's search page finds, sorted. */
  async search({ service, tags, operation }: TagSearch): Promise<string[]> {
    const form = new URLSearchParams({
      service,
      tags: JSON.stringify(tags),
      limit: "1500",
      lookback: "48h",
      ...(operation === undefined ? {} : { operation }),
    });
    const answer = await fetchJson(`${this.#base}/api/traces?${form}`);
    return list(answer, "data")
      .map((trace) => text(trace, "traceID"))
      .sort();
  }
}
