import type { LogProblem } from "./verify-report.ts";

/** Problems as they are found: all are told and counted, the first ones kept. */
export class ProblemList {
  readonly #most: number;
  readonly #tell: (problem: LogProblem) => void;
  readonly #kept: LogProblem[] = [];
  #count = 0;

  constructor(most: number, tell: (problem: LogProblem) => void) {
    this.#most = most;
    this.#tell = tell;
  }

  get count(): number {
    return this.#count;
  }

  get kept(): readonly LogProblem[] {
    return this.#kept;
  }

  add(problem: LogProblem): void {
    this.#count += 1;
    if (this.#kept.length < this.#most) this.#kept.push(problem);
    this.#tell(problem);
  }
}
