import type { IsFailure, Price, RunSubject } from "../../../src/entries/runtime.ts";
import type { InnerSink } from "../../../src/entries/sinks.ts";

/** Options that all adapters have. */
export interface CommonOptions {
  readonly sink: InnerSink;
  readonly tenant: string | (() => string);
  readonly context?: (() => RunSubject | undefined) | undefined;
  readonly isFailure?: IsFailure | undefined;
  readonly price?: Price | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * One run: the model is asked `question-mark` and asks for the tool `add` with {@link INPUT}. The result goes back to
 * it, and it answers `answer-mark`.
 */
export interface Scene {
  /** Code of the tool. Default: it returns 3. */
  readonly tool?: (() => unknown) | undefined;
  /** Thrown by the second model call instead of its answer. */
  readonly modelThrows?: Error | undefined;
}

/** What came of it for the application. */
export interface Played {
  readonly answer: string | undefined;
  readonly thrown: unknown;
  readonly counts: Counts;
}

/** Counts that all adapters have, under names of their own. */
export interface Counts {
  readonly refused: number;
  readonly sinkFailures: number;
  /** Failed callbacks. */
  readonly faults: number;
}

export interface Driver {
  readonly name: string;
  /** What the framework has, or its adapter: scenes that need something else are left out. */
  readonly has: {
    /** Model calls. Otherwise, a run is one tool call. */
    readonly models: boolean;
    /** A function that gives the tenant. */
    readonly tenants: boolean;
    /** The usage of each model call. Otherwise, only that of the run. */
    readonly usage: boolean;
    readonly price: boolean;
    /** It reads content only for sinks that need it. */
    readonly need: boolean;
    /** The run stands outside any other: it takes nothing from a run around it. */
    readonly surroundings: boolean;
  };
  play(options: CommonOptions, scene: Scene): Promise<Played>;
}

export const INPUT = { a: 471_147_114_711, b: 2 };
export const MARKS = ["question-mark", "answer-mark", "471147114711"] as const;

/** Everything that an adapter of agents has. */
export const WHOLE = {
  models: true,
  tenants: true,
  usage: true,
  price: true,
  need: true,
  surroundings: false,
} as const;

export const codeOf = ({ tool = () => 3 }: Scene) => tool;

/** What a promise gives or rejects with. */
export async function settled<T>(work: Promise<T>): Promise<{ given?: T; thrown?: unknown }> {
  try {
    return { given: await work };
  } catch (thrown) {
    return { thrown };
  }
}
