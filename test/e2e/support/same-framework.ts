/** A scenario that a framework reports in another way. */
export interface Difference {
  /** For the page: why. */
  readonly why: string;
  /** What is reported instead; `undefined` where the framework has no such scenario. */
  readonly lines: readonly string[] | undefined;
}

export type Differences = Readonly<Record<string, Difference>>;

/** The end of the versions of a framework that a program runs with. */
export interface End {
  readonly server: string;
  readonly args?: readonly string[];
  readonly newerNode?: boolean;
  /** Of this end, beside those of the framework. */
  readonly differences?: Differences;
}

export interface Framework {
  readonly name: string;
  /** Its page in `docs/`. */
  readonly page: string;
  readonly program: string;
  /** Files that the program imports. */
  readonly needs: readonly string[];
  readonly differences: Differences;
  /** The newest comes last: it is the one that the page shows. */
  readonly ends: readonly [...End[], End];
}
