import type { Output } from "../terminal/output.ts";
import { count } from "../terminal/table.ts";
import { cutToWidth } from "../terminal/text.ts";

const EVERY_MS = 100;

/** Shows the progress of a replay on a terminal. Prints nothing when piped. */
export class Progress {
  readonly #output: Output;
  readonly #totalBytes: number | undefined;
  #bytes = 0;
  #shown = false;
  #nextAt = 0;

  /** @param totalBytes bytes of all sources, if known. */
  constructor(output: Output, totalBytes: number | undefined) {
    this.#output = output;
    this.#totalBytes = totalBytes;
  }

  addBytes(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Shows the figures, at most ten times a second. */
  show(events: number, spans: number): void {
    if (!this.#output.live) return;
    const now = Date.now();
    if (now < this.#nextAt) return;
    this.#nextAt = now + EVERY_MS;
    const text = `${count(events)} events, ${count(spans)} spans, ${this.#amount()}`;
    this.#output.write(`\r\x1b[K${cutToWidth(text, this.#output.columns - 1)}`);
    this.#shown = true;
  }

  /** Removes the figures before another line is printed. */
  clear(): void {
    if (!this.#shown) return;
    this.#output.write("\r\x1b[K");
    this.#shown = false;
    this.#nextAt = 0;
  }

  #amount(): string {
    const read = `${count(Math.round(this.#bytes / 1e6))} MB`;
    if (!this.#totalBytes) return read;
    const share = Math.floor((this.#bytes / this.#totalBytes) * 100);
    return `${read} (${Math.min(share, 100)} %)`;
  }
}
