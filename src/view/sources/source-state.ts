import type { ViewProblem, ViewSource, ViewVerdict } from "../format.ts";

/** Problems that are listed. All are counted. */
export const MOST_PROBLEMS = 100;

/** State of a source, as the page shows it. */
export class SourceState {
  verdict: ViewVerdict | undefined = undefined;
  /** Bytes to read; `undefined` if unknown. */
  size: number | undefined = undefined;
  readonly name: string;
  readonly kind: ViewSource["kind"];
  readonly followed: boolean;
  readonly #changed: () => void;
  readonly #problems: ViewProblem[] = [];
  #problemCount = 0;
  #bytes = 0;
  #atEnd = false;
  #unopened: string | undefined;

  /** @param changed called after every change. */
  constructor(name: string, kind: ViewSource["kind"], followed: boolean, changed: () => void) {
    this.name = name;
    this.kind = kind;
    this.followed = followed;
    this.#changed = changed;
  }

  /** Adds a problem. A problem that is already listed is not added and counted again. */
  problem(place: string, problem: string, line?: number): void {
    const isListed = this.#problems.some(
      (known) => known.place === place && known.problem === problem && known.line === line,
    );
    if (isListed) return;
    this.#problemCount += 1;
    if (this.#problems.length < MOST_PROBLEMS) {
      this.#problems.push(line === undefined ? { place, problem } : { place, line, problem });
    }
    this.#changed();
  }

  /** @param problem why the followed source cannot be opened now; `undefined`: it is open. */
  opening(problem: string | undefined): void {
    if (this.#unopened !== undefined) this.solved(this.name, this.#unopened);
    if (problem !== undefined) this.problem(this.name, problem);
    this.#unopened = problem;
  }

  /** Reading failed before the end. The runs that were read are shown. */
  cutShort(reason: string): void {
    this.problem(this.name, `cannot be read to its end: ${reason}`);
  }

  /** The source was replaced. Its old problems are removed. */
  replaced(reason: string): void {
    this.#problems.length = 0;
    this.#problemCount = 0;
    this.#unopened = undefined;
    this.problem(this.name, `${reason}: it was read again from its start`);
  }

  /** Removes a problem that was solved. */
  solved(place: string, problem: string): void {
    const at = this.#problems.findIndex(
      (known) => known.place === place && known.problem === problem && known.line === undefined,
    );
    if (at < 0) return;
    this.#problems.splice(at, 1);
    this.#problemCount -= 1;
    this.#changed();
  }

  addBytes(count: number): void {
    this.#bytes += count;
  }

  /** It is read from its start again. */
  again(): void {
    this.#bytes = 0;
    this.#atEnd = false;
    this.#changed();
  }

  /** It has grown without a change of a run, for example by the mark that closes a log. */
  grown(): void {
    this.#changed();
  }

  /** Its end was reached. */
  reached(): void {
    if (this.#atEnd) return;
    this.#atEnd = true;
    this.#changed();
  }

  setVerdict(verdict: ViewVerdict): void {
    this.verdict = verdict;
    this.#changed();
  }

  view(): ViewSource {
    const share = this.size === undefined || this.size === 0 ? 0 : this.#bytes / this.size;
    return {
      name: this.name,
      kind: this.kind,
      followed: this.followed,
      read: this.#atEnd ? 1 : Math.min(share, 0.99),
      problem_count: this.#problemCount,
      problems: this.#problems,
      ...(this.verdict === undefined ? {} : { verdict: this.verdict }),
    };
  }
}
