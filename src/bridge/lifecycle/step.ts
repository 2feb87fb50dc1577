import { type Instant, RecentMap, type StepKind, type StepOpening } from "../../events/door.ts";

/**
 * A step of a run: a part of it that is neither a call nor a run. Closed ones stay, light, as the
 * parents of late children.
 *
 * @typeParam H the driver's handle of a span.
 */
export class Step<H> {
  readonly id: string;
  readonly name: string;
  readonly kind: StepKind;
  /** Which of the run's steps it is, from 1: its span id is derived from it. */
  readonly ordinal: number;
  /** The call of its run that it stands in. */
  readonly inCallId: string | undefined;
  readonly startedAt: Instant;
  /** While it is open. */
  handle: H | undefined = undefined;

  constructor(id: string, ordinal: number, opening: StepOpening, startedAt: Instant) {
    this.id = id;
    this.name = opening.name;
    this.kind = opening.kind ?? "step";
    this.ordinal = ordinal;
    this.inCallId = opening.inCallId;
    this.startedAt = startedAt;
  }
}

/** A run remembers at least this many steps that ended last, and at most twice as many. */
const ENDED_AT_LEAST = 128;

/** The steps of one run by their ids: those that are open, oldest first, and those that ended last. */
export class Steps<H> {
  readonly #open = new Map<string, Step<H>>();
  readonly #ended = new RecentMap<Step<H>>(ENDED_AT_LEAST);

  get size(): number {
    return this.#open.size;
  }

  get oldest(): Step<H> | undefined {
    return this.#open.values().next().value;
  }

  /** The open ones, newest first: a step opens after the one that it stands in. */
  get newestFirst(): readonly Step<H>[] {
    return [...this.#open.values()].reverse();
  }

  /** The open step of this id. */
  openOf(id: string): Step<H> | undefined {
    return this.#open.get(id);
  }

  /** The step of this id, open or, as far as that is remembered, ended. */
  find(id: string): Step<H> | undefined {
    return this.#open.get(id) ?? this.#ended.get(id);
  }

  add(step: Step<H>): void {
    this.#open.set(step.id, step);
  }

  remove(step: Step<H>): void {
    this.#open.delete(step.id);
  }

  /** @returns how many ended steps were forgotten for this one: mostly 0. */
  noteEnded(step: Step<H>): number {
    this.#open.delete(step.id);
    return this.#ended.set(step.id, step);
  }
}
