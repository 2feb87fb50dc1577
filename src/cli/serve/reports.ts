import { messageOf } from "../cli-error.ts";
import type { Output } from "../terminal/output.ts";
import { safe } from "../terminal/safe-text.ts";

/** So long the same trouble at the same place is told once, in ms. */
const QUIET_MS = 60_000;
/** Places that are told apart. */
const MOST_PLACES = 1_000;

interface Told {
  readonly text: string;
  readonly atMs: number;
  again: number;
}

/**
 * What a service says of its troubles, a line each: one that goes on and on is told once a minute, with
 * how often it came since.
 */
export class Reports {
  readonly #output: Output;
  readonly #told = new Map<string, Told>();

  constructor(output: Output) {
    this.#output = output;
  }

  /** Says it, always. */
  say(text: string): void {
    this.#output.line(`${new Date().toISOString()} ${safe(text)}`);
  }

  /** For hooks: bound to this. */
  readonly error = (error: unknown, where: string): void => {
    const text = messageOf(error);
    const now = performance.now();
    const before = this.#told.get(where);
    if (before !== undefined && before.text === text && now - before.atMs < QUIET_MS) {
      before.again += 1;
      return;
    }
    const more = before !== undefined && before.again > 0 ? ` (${before.again} more before)` : "";
    // What was told longest ago makes room.
    this.#told.delete(where);
    const [oldest] = this.#told.keys();
    if (this.#told.size >= MOST_PLACES && oldest !== undefined) this.#told.delete(oldest);
    this.#told.set(where, { text, atMs: now, again: 0 });
    this.say(`${where}: ${text}${more}`);
  };
}
