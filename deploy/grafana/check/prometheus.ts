import { Shape } from "./json-shape.ts";

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** Seconds since 1970, and value; NaN and infinities too. One point for an instant query. */
  readonly points: readonly (readonly [time: number, value: number])[];
}

const TIMEOUT_MS = 30_000;

/** Asks a Prometheus by its HTTP API. Every method throws where it is not reached or refuses the query. */
export class Prometheus {
  readonly #base: string;

  /** @param base its address, such as `http://127.0.0.1:9090` */
  constructor(base: string) {
    this.#base = base.replace(/\/$/, "");
  }

  async instant(query: string, time: number): Promise<Series[]> {
    const data = await this.#ask("query", { query, time: String(time) });
    if (data.at("resultType").text === "scalar") {
      return [{ labels: {}, points: [point(data.at("result"))] }];
    }
    return data.at("result").list.map((each) => ({
      labels: labelsOf(each.at("metric")),
      points: [point(each.at("value"))],
    }));
  }

  async range(query: string, start: number, end: number, step: number): Promise<Series[]> {
    const times = { start: String(start), end: String(end), step: String(step) };
    const data = await this.#ask("query_range", { query, ...times });
    return data.at("result").list.map((each) => ({
      labels: labelsOf(each.at("metric")),
      points: each.at("values").list.map(point),
    }));
  }

  /** The values that a label has on the series that match, in alphabetical order. */
  async labelValues(
    label: string,
    selector: string,
    start: number,
    end: number,
  ): Promise<string[]> {
    const times = { start: String(start), end: String(end) };
    const data = await this.#ask(`label/${label}/values`, { "match[]": selector, ...times });
    return data.list.map((each) => each.text);
  }

  /** The ids of the traces that stand for values of the series in a query. */
  async exemplarTraces(query: string, start: number, end: number): Promise<string[]> {
    const times = { start: String(start), end: String(end) };
    const data = await this.#ask("query_exemplars", { query, ...times });
    return data.list.flatMap((each) =>
      each.at("exemplars").list.map((exemplar) => exemplar.at("labels").at("trace_id").text),
    );
  }

  async #ask(path: string, form: Readonly<Record<string, string>>): Promise<Shape> {
    const url = `${this.#base}/api/v1/${path}?${new URLSearchParams(form)}`;
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const body: unknown = await response.json();
    const answer = new Shape(body, path);
    if (answer.at("status").text !== "success") {
      throw new Error(
        `Prometheus: ${answer.at("error").optionalText}, for ${JSON.stringify(form)}`,
      );
    }
    return answer.at("data");
  }
}

function labelsOf(shape: Shape): Record<string, string> {
  return Object.fromEntries(shape.entries.map(([name, value]) => [name, value.text]));
}

function point(shape: Shape): readonly [number, number] {
  const [time, value] = shape.list;
  if (time === undefined || value === undefined) throw new TypeError("expected a time and a value");
  return [time.number, Number(value.text.replace("Inf", "Infinity"))];
}
