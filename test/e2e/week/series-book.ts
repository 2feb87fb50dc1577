import { type Matcher, queryNames, type Selector } from "../../deploy/alert-names.ts";

export type Labels = Readonly<Record<string, string>>;

/** Minutes in a row in which a series had one value. */
interface Stretch {
  readonly from: number;
  minutes: number;
  readonly value: number;
}

interface Line {
  readonly name: string;
  readonly labels: Labels;
  readonly stretches: Stretch[];
}

/** The series of a name that a query asks for. */
export function selectorsOf(queries: readonly string[]): readonly Selector[] {
  return queries.flatMap((query) => queryNames(query).selectors);
}

/** What Prometheus would read in each minute, of the series that some rule asks for. */
export class SeriesBook {
  readonly #selectors: readonly Selector[];
  readonly #lines = new Map<string, Line | undefined>();
  #minute = 0;

  /** @param selectors of all rules. */
  constructor(selectors: readonly Selector[]) {
    this.#selectors = selectors;
  }

  /** The series as promtool's tests name it, or `undefined` if no rule asks for it. */
  key(name: string, labels: Labels): string | undefined {
    const pairs = Object.entries(labels).map(([label, is]) => `${label}=${JSON.stringify(is)}`);
    const key = `${name}{${pairs.join(",")}}`;
    if (!this.#lines.has(key)) {
      const asked = isAsked(this.#selectors, name, labels);
      this.#lines.set(key, asked ? { name, labels, stretches: [] } : undefined);
    }
    return this.#lines.get(key) && key;
  }

  /** The series has this value in the present minute. */
  record(key: string, given: number): void {
    const stretches = this.#lines.get(key)?.stretches;
    if (stretches === undefined) throw new Error(`${key}: expected a key of this book`);
    const value = Math.round(given * 1000) / 1000;
    const last = stretches.at(-1);
    if (last?.value === value && last.from + last.minutes === this.#minute) last.minutes++;
    else stretches.push({ from: this.#minute, minutes: 1, value });
  }

  put(name: string, labels: Labels, value: number): void {
    const key = this.key(name, labels);
    if (key !== undefined) this.record(key, value);
  }

  nextMinute(): void {
    this.#minute++;
  }

  /** The series that these selectors ask for, from a minute on, as promtool's tests have them. */
  *inputSeries(selectors: readonly Selector[], from: number): Generator<readonly [string, string]> {
    for (const [key, line] of this.#lines) {
      if (line === undefined || !isAsked(selectors, line.name, line.labels)) continue;
      const values = notation(line.stretches, from, this.#minute);
      if (values !== undefined) yield [key, values];
    }
  }
}

/** A series that is not there any more is stale, as behind a scrape without it. */
function notation(stretches: readonly Stretch[], from: number, end: number): string | undefined {
  const parts: string[] = [];
  let next = from;
  for (const stretch of stretches) {
    const begin = Math.max(stretch.from, from);
    const minutes = stretch.from + stretch.minutes - begin;
    if (minutes <= 0) continue;
    if (begin > next) parts.push(...absent(begin - next, parts.length > 0));
    parts.push(minutes === 1 ? String(stretch.value) : `${stretch.value}x${minutes - 1}`);
    next = begin + minutes;
  }
  if (parts.length > 0 && next < end) parts.push("stale");
  return parts.length === 0 ? undefined : parts.join(" ");
}

function absent(minutes: number, wasThere: boolean): string[] {
  const rest = wasThere ? minutes - 1 : minutes;
  return [...(wasThere ? ["stale"] : []), ...(rest > 0 ? [`_x${rest}`] : [])];
}

function isAsked(selectors: readonly Selector[], name: string, labels: Labels): boolean {
  const all: Labels = { ...labels, __name__: name };
  return selectors.some(
    ({ metric, matchers }) =>
      (metric === "" || metric === name) && matchers.every((matcher) => holds(matcher, all)),
  );
}

function holds({ label, operator, value }: Matcher, labels: Labels): boolean {
  const has = labels[label] ?? "";
  switch (operator) {
    case "=":
      return has === value;
    case "!=":
      return has !== value;
    case "=~":
      return new RegExp(`^(?:${value})$`).test(has);
    case "!~":
      return !new RegExp(`^(?:${value})$`).test(has);
    default:
      throw new Error(`${label}${operator}${value}: expected an operator of PromQL`);
  }
}
