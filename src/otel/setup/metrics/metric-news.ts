import type { Reporter } from "../../report.ts";

/** Tells of trouble with metrics, until a shutdown has given up on them: that is told by itself. */
export class MetricNews {
  readonly #reporter: Reporter;
  #over = false;

  constructor(reporter: Reporter) {
    this.#reporter = reporter;
  }

  report(error: unknown, where: string): void {
    if (!this.#over) this.#reporter.report(error, where);
  }

  /** What comes from here on is no more news. */
  end(): void {
    this.#over = true;
  }
}
