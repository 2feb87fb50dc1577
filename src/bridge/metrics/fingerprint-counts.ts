import { OTHER } from "./metric-names.ts";
import { Series } from "./series-table.ts";

/** Values of the label, `_other` included. */
const MOST_VALUES = 100;
/** A fingerprint without a failure for this long is dropped, so that a new one has room, in ms. */
const SILENT_MS = 24 * 60 * 60 * 1000;
/** Counts of dropped fingerprints that are remembered. */
const MOST_DROPPED = 1_000;

interface Known {
  readonly series: Series;
  /** When it came last, by this process's clock in ms. */
  lastAt: number;
}

/** Failures by fingerprint. What comes when there is no room counts as `_other`. */
export class FingerprintCounts {
  /** The one that came last is the last. */
  readonly #known = new Map<string, Known>();
  /**
   * The counts of those that were dropped: one that comes again goes on from there. The SDK shows a dropped series with its
   * last count until the process ends, and a count that began anew would be hidden behind that. The oldest is first.
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

  /** Those that had a failure in the last 24 hours, and `_other` if it was ever used. */
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
