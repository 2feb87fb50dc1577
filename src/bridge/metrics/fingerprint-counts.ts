import { OTHER } from "./metric-names.ts";
import { Series } from "./series-table.ts";

/** Most values of the label, including `_other`. */
const MOST_VALUES = 100;
/** Idle time in ms after which a fingerprint is dropped to make room. */
const SILENT_MS = 24 * 60 * 60 * 1000;
/** Most dropped fingerprints whose count is stored. */
const MOST_DROPPED = 1_000;

interface Known {
  readonly series: Series;
  /** Time of its last failure, by this process's clock, in ms. */
  lastAt: number;
}

/** Failures by fingerprint. A new one counts as `_other` if there is no room. */
export class FingerprintCounts {
  /** In the order of the last failure. */
  readonly #known = new Map<string, Known>();
  /**
   * Last counts of dropped fingerprints, oldest first. A fingerprint that returns continues its count. The
   * SDK exports a dropped series with its last count until the process ends, and that would hide a count
   * from 0.
   */
  readonly #dropped = new Map<string, number>();
  readonly #other = seriesOf(OTHER);

  /** @param now in ms since 1970. */
  add(fingerprint: string, now: number): void {
    const known = this.#known.get(fingerprint) ?? this.#made(fingerprint, now);
    if (known === undefined) {
      this.#other.value++;
      return;
    }
    known.series.value++;
    known.lastAt = now;
    this.#known.delete(fingerprint);
    this.#known.set(fingerprint, known);
  }

  /** The series with a failure in the last 24 hours, and `_other` if it was ever used. */
  all(now: number): readonly Series[] {
    this.#dropSilent(now);
    const shown = [...this.#known.values()].map(({ series }) => series);
    return this.#other.value === 0 ? shown : [...shown, this.#other];
  }

  #made(fingerprint: string, now: number): Known | undefined {
    this.#dropSilent(now);
    if (this.#known.size >= MOST_VALUES - 1) return undefined;
    const series = seriesOf(fingerprint);
    series.value = this.#dropped.get(fingerprint) ?? 0;
    this.#dropped.delete(fingerprint);
    return { series, lastAt: now };
  }

  #dropSilent(now: number): void {
    for (const [fingerprint, { lastAt, series }] of this.#known) {
      if (now - lastAt < SILENT_MS) return;
      this.#known.delete(fingerprint);
      this.#dropped.set(fingerprint, series.value);
      if (this.#dropped.size <= MOST_DROPPED) continue;
      const [oldest] = this.#dropped.keys();
      if (oldest !== undefined) this.#dropped.delete(oldest);
    }
  }
}

function seriesOf(fingerprint: string): Series {
  return new Series({ "entelix.failure.fingerprint": fingerprint }, []);
}
