/** So many lines wait at most for one that tells the dialect, as in a recording. */
const MOST_LINES = 32;
/** The length of their texts together, in UTF-16 units: a connection holds no more of the group it fills. */
const MOST_TEXT = 256 * 1024;

interface HeldLine {
  /** In the body, from 1. */
  readonly number: number;
  readonly text: string;
}

/**
 * Lines at the head of a body that no dialect knows for its own, an event of a type that this version
 * does not know, say: they are of the dialect of the first line that tells it.
 */
export class LeadingLines {
  #held: HeldLine[] = [];
  #room = MOST_TEXT;

  get waits(): boolean {
    return this.#held.length > 0;
  }

  /** @returns whether there was room for it. */
  hold(number: number, text: string): boolean {
    if (this.#held.length === MOST_LINES || text.length > this.#room) return false;
    this.#held.push({ number, text });
    this.#room -= text.length;
    return true;
  }

  /** Those that are held, in their order; it holds none then. */
  release(): readonly HeldLine[] {
    const held = this.#held;
    this.#held = [];
    this.#room = MOST_TEXT;
    return held;
  }
}
