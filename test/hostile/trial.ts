import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Random } from "../support/random.ts";
import { Ends } from "./ends.ts";
import type { Harm } from "./harm.ts";

export interface TrialOptions {
  readonly kind: string;
  readonly number: number;
  /** Numbers that follow from seed, family and number alone. */
  readonly random: Random;
  /** Folder of the family; the trial's own is made in it when it is asked for. */
  readonly root: string;
  readonly onHarm: (harm: Found) => void;
}

export interface Found {
  readonly harm: Harm;
  readonly count: number;
  readonly expected: string;
  readonly found: string;
}

/** One trial: what it gives to the program under test, and what came of it. */
export class Trial {
  readonly kind: string;
  readonly number: number;
  readonly random: Random;
  /** Inputs that were given so far. */
  inputs = 0;
  refused = 0;
  accepted = 0;
  harmed = false;
  /** What it is about, for messages. */
  subject = "the trial";
  readonly #options: TrialOptions;
  readonly #ends = new Ends();
  #folder: string | undefined;

  constructor(options: TrialOptions) {
    this.kind = options.kind;
    this.number = options.number;
    this.random = options.random;
    this.#options = options;
  }

  /** Inputs that were refused as documented. */
  refuse(count = 1): void {
    this.inputs += count;
    this.refused += count;
  }

  /** Inputs that were taken. */
  accept(count = 1): void {
    this.inputs += count;
    this.accepted += count;
  }

  /** Something that must never happen. Does nothing where `count` is 0. */
  harm(harm: Harm, expected: string, found: string, count = 1): void {
    if (count <= 0) return;
    this.harmed = true;
    this.#options.onHarm({ harm, count, expected, found });
  }

  /** An `unexpected` harm unless both are the same, as JSON. */
  equal(what: string, found: unknown, expected: unknown): void {
    const [is, should] = [JSON.stringify(found), JSON.stringify(expected)];
    if (is !== should) this.harm("unexpected", `${what}: ${should}`, `${is}`);
  }

  /** An `unexpected` harm unless the text has the part. */
  says(what: string, text: string, part: RegExp): void {
    if (!part.test(text)) this.harm("unexpected", `${what} with ${part}`, text);
  }

  /** The trial's own folder. It is removed after the trial unless something was found. */
  async folder(): Promise<string> {
    if (this.#folder !== undefined) return this.#folder;
    this.#folder = join(this.#options.root, `${this.number}`);
    await mkdir(this.#folder, { recursive: true });
    return this.#folder;
  }

  /** Path of the folder, if there is one. */
  get files(): string | undefined {
    return this.#folder;
  }

  /** Has this done when the trial is over, however it ends; the last one first. */
  atEnd(end: () => unknown): void {
    this.#ends.atEnd(end);
  }

  /** @param keep whether the folder stays. */
  async end(keep: boolean): Promise<void> {
    await this.#ends[Symbol.asyncDispose]();
    if (this.#folder === undefined || keep) return;
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
