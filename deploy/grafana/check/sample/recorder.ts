import {
  METRICS,
  type MetricName,
  prometheusLabel,
  prometheusNames,
} from "../../../../src/bridge/metrics/metric-names.ts";

export type Labels = Readonly<Record<string, string>>;

interface Line {
  readonly name: string;
  readonly labels: Labels;
  value: number;
  readonly points: [time: number, value: number][];
}

/** Series with their values at each sample, as OpenMetrics text that promtool makes into blocks. */
export class Recorder {
  readonly #lines = new Map<string, Line>();
  /** Ends of processes: their series have no further values. */
  readonly #gone = new Set<string>();

  /** Adds to a counter or a gauge of the bridge. @throws RangeError for an attribute that the metric does not have */
  add(metric: MetricName, process: Labels, attributes: Labels, amount = 1): void {
    const [name = ""] = prometheusNames(metric);
    this.addTo(name, { ...process, ...named(metric, attributes) }, amount);
  }

  set(metric: MetricName, process: Labels, attributes: Labels, value: number): void {
    const [name = ""] = prometheusNames(metric);
    this.#line(name, { ...process, ...named(metric, attributes) }).value = value;
  }

  /** Records one value into a histogram of the bridge. */
  observe(metric: MetricName, process: Labels, attributes: Labels, value: number): void {
    const [bucket = ""] = prometheusNames(metric);
    const labels = { ...process, ...named(metric, attributes) };
    this.observeIn(bucket.replace(/_bucket$/, ""), METRICS[metric].buckets ?? [], labels, value);
  }

  /** Records one value into a histogram that is not the bridge's own. */
  observeIn(name: string, bounds: readonly number[], labels: Labels, value: number): void {
    for (const bound of [...bounds, Number.POSITIVE_INFINITY]) {
      const le = bound === Number.POSITIVE_INFINITY ? "+Inf" : String(bound);
      this.addTo(`${name}_bucket`, { ...labels, le }, value <= bound ? 1 : 0);
    }
    this.addTo(`${name}_sum`, labels, value);
    this.addTo(`${name}_count`, labels, 1);
  }

  /** Adds to a series that is not the bridge's own. */
  addTo(name: string, labels: Labels, amount: number): void {
    this.#line(name, labels).value += amount;
  }

  setTo(name: string, labels: Labels, value: number): void {
    this.#line(name, labels).value = value;
  }

  /** Everything of this instance ends. */
  end(instance: string): void {
    this.#gone.add(instance);
  }

  /** Every series has its present value at this time, in seconds since 1970. */
  sample(time: number): void {
    for (const line of this.#lines.values()) {
      if (!this.#gone.has(line.labels.instance ?? "")) line.points.push([time, line.value]);
    }
  }

  /** All series, those of a name together. */
  *text(): Generator<string> {
    const names = [...new Set([...this.#lines.values()].map(({ name }) => name))].toSorted();
    for (const name of names) {
      for (const line of this.#lines.values()) {
        if (line.name !== name) continue;
        const labels = Object.entries(line.labels).map(([key, value]) => `${key}="${value}"`);
        const head = `${name}{${labels.join(",")}}`;
        yield line.points.map(([time, value]) => `${head} ${value} ${time}\n`).join("");
      }
    }
    yield "# EOF\n";
  }

  #line(name: string, labels: Labels): Line {
    const key = JSON.stringify([name, Object.entries(labels).toSorted()]);
    let line = this.#lines.get(key);
    if (line === undefined) {
      line = { name, labels, value: 0, points: [] };
      this.#lines.set(key, line);
    }
    return line;
  }
}

function named(metric: MetricName, attributes: Labels): Labels {
  const known = METRICS[metric].attributes;
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => {
      const attribute = known.find((each) => each === name);
      if (attribute === undefined) throw new RangeError(`${metric} has no attribute ${name}`);
      return [prometheusLabel(attribute), value];
    }),
  );
}
