import type { Output } from "./output.ts";

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const CLEAR_TO_END = "\x1b[J";

/**
 * Some lines at the bottom of a terminal that are redrawn in place. Only for an output that is live.
 *
 * {@link LiveLines.stop} leaves the terminal as it was found; whoever makes one must see to it that
 * it is called, also when the user interrupts.
 */
export class LiveLines {
  readonly #output: Output;
  #drawn = 0;
  #stopped = false;

  constructor(output: Output) {
    this.#output = output;
    output.write(HIDE_CURSOR);
  }

  /**
   * Shows these lines in place of those before. Each must fit into the terminal's columns; of more
   * lines than the terminal has, the last ones are shown, since what has scrolled away stays.
   */
  draw(all: readonly string[]): void {
    if (this.#stopped) return;
    const lines = all.slice(-(this.#output.rows - 1));
    const text = lines.map((line) => `${line}\n`).join("");
    this.#output.write(this.#back() + CLEAR_TO_END + text);
    this.#drawn = lines.length;
  }

  /** Leaves what is drawn, or takes it away, and shows the cursor again. */
  stop(keep: boolean): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#output.write(keep ? SHOW_CURSOR : this.#back() + CLEAR_TO_END + SHOW_CURSOR);
  }

  #back(): string {
    return this.#drawn === 0 ? "" : `\x1b[${this.#drawn}A\r`;
  }
}
