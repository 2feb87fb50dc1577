import { createHash } from "node:crypto";
import { Random } from "../support/random.ts";
import { bounded, Hung } from "./bounded.ts";
import { type Failure, HARMS, type Harm } from "./harm.ts";
import { type Found, Trial } from "./trial.ts";

export interface TrialsOptions {
  readonly family: string;
  readonly seed: number;
  /** Folder for the family's files. */
  readonly root: string;
  /** The only trial that is made, by its number. Default: all. */
  readonly only?: number | undefined;
}

/** What came of all inputs of one kind. */
export interface KindCounts {
  readonly kind: string;
  inputs: number;
  refused: number;
  accepted: number;
  readonly harms: Record<Harm, number>;
}

export interface EachOptions {
  /** Trials at a time. Default 1. */
  readonly width?: number;
  /** A trial that takes longer counts as hung, in ms. Default 60,000. */
  readonly boundMs?: number;
  /** They go on from the trials before them: none can be made alone. Default `false`. */
  readonly chained?: boolean;
}

/** So many failures of a kind are told one by one for each harm, and keep their files. */
const TOLD = 3;

/** The trials of one family: numbered, counted, each with numbers of its own from the seed. */
export class Trials {
  readonly kinds: KindCounts[] = [];
  readonly failures: Failure[] = [];
  /** Failures beyond those that are told. */
  untold = 0;
  readonly #options: TrialsOptions;
  #next = 1;

  constructor(options: TrialsOptions) {
    this.#options = options;
  }

  get family(): string {
    return this.#options.family;
  }

  get root(): string {
    return this.#options.root;
  }

  /** Numbers that belong to no trial: what several of them have in common. */
  shared(name: string): Random {
    return this.#random(name);
  }

  /** Makes so many trials of a kind. A trial that throws has found something unexpected. */
  async each(
    kind: string,
    count: number,
    work: (trial: Trial, index: number) => Promise<void>,
    { boundMs = 60_000, chained = false, width = 1 }: EachOptions = {},
  ): Promise<void> {
    const counts = this.#countsOf(kind);
    const first = this.#next;
    this.#next += count;
    let index = 0;
    const worker = async () => {
      while (index < count) {
        const at = index++;
        const number = first + at;
        const { only } = this.#options;
        if (only !== undefined && (only !== number || chained)) continue;
        await this.#make(counts, number, { boundMs, chained }, (trial) => work(trial, at));
      }
    };
    await Promise.all(Array.from({ length: Math.min(width, count) }, worker));
  }

  /** Makes one trial. */
  one(
    kind: string,
    work: (trial: Trial) => Promise<void>,
    options: Pick<EachOptions, "boundMs" | "chained"> = {},
  ): Promise<void> {
    return this.each(kind, 1, work, options);
  }

  async #make(
    counts: KindCounts,
    number: number,
    { boundMs, chained }: Required<Pick<EachOptions, "boundMs" | "chained">>,
    work: (trial: Trial) => Promise<void>,
  ): Promise<void> {
    const found: Found[] = [];
    const { kind } = counts;
    const trial = new Trial({
      kind,
      number,
      random: this.#random(String(number)),
      root: this.#options.root,
      onHarm: (harm) => void found.push(harm),
    });
    try {
      await bounded(work(trial), boundMs, kind);
    } catch (error) {
      const harm = error instanceof Hung ? "unanswered" : "unexpected";
      trial.harm(harm, `${trial.subject} comes to its end`, textOf(error));
    }
    counts.inputs += Math.max(1, trial.inputs);
    counts.refused += trial.refused;
    counts.accepted += trial.accepted;
    const told = this.failures.length;
    for (const each of found) {
      counts.harms[each.harm] += each.count;
      const { family } = this.#options;
      const like = this.failures.filter((one) => one.kind === kind && one.harm === each.harm);
      if (like.length >= TOLD) this.untold += 1;
      else this.failures.push({ ...each, family, kind, number, chained, files: trial.files });
    }
    await trial.end(this.failures.length > told);
  }

  #countsOf(kind: string): KindCounts {
    const known = this.kinds.find((each) => each.kind === kind);
    if (known !== undefined) return known;
    const harms = { lost: 0, doubled: 0, altered: 0, unanswered: 0, unexpected: 0 };
    const counts = { kind, inputs: 0, refused: 0, accepted: 0, harms };
    this.kinds.push(counts);
    return counts;
  }

  #random(name: string): Random {
    const { family, seed } = this.#options;
    const digest = createHash("sha256").update(`${seed}\0${family}\0${name}`).digest();
    return new Random(digest.readUInt32BE(0));
  }
}

/** All harms of a kind. */
export function harmed({ harms }: KindCounts): number {
  return HARMS.reduce((sum, harm) => sum + harms[harm], 0);
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
