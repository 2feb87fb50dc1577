import { styleText } from "node:util";
import { safeJson } from "./text.ts";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** What an {@link Output} needs of a stream: `process.stdout` and `process.stderr` have it. */
interface OutputStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string, written?: () => void): boolean;
  on(event: "drain" | "error", listener: (error?: unknown) => void): unknown;
}

/**
 * One of the command's two text streams: plain when it is piped or `NO_COLOR` is set, and quiet once
 * its reader has gone (`entelix-otel audit show DIR | head`).
 */
export class Output {
  /** Whether it is a terminal that can move its cursor. */
  readonly live: boolean;
  readonly #stream: OutputStream;
  readonly #coloured: boolean;
  #closed = false;
  #failure: unknown;
  #full = false;
  #wake: (() => void) | undefined;

  constructor(stream: OutputStream, env: Readonly<Record<string, string | undefined>>) {
    this.#stream = stream;
    this.live = stream.isTTY === true && env.TERM !== "dumb";
    this.#coloured = this.live && !env.NO_COLOR;
    stream.on("drain", () => this.#caughtUp());
    // Without a listener the process would end with a stack trace. Whatever the stream's trouble
    // is, nothing more can be said on it.
    stream.on("error", (error) => {
      this.#failure ??= error;
      this.#closed = true;
      this.#caughtUp();
    });
  }

  /** Whether the reader has gone: a long listing can stop. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Columns of the terminal; unlimited when piped. */
  get columns(): number {
    // 0 where nobody has told the terminal its size, as in a CI job or a container with a pseudo-terminal.
    return this.live ? Math.max(this.#stream.columns || 80, 20) : Number.POSITIVE_INFINITY;
  }

  /** Writes a line. What came from data must have gone through `safe` before. */
  line(text = ""): void {
    this.write(`${text}\n`);
  }

  /** Writes a line of JSON: exactly when piped, and without raw control characters on a terminal. */
  json(text: string): void {
    this.line(this.live ? safeJson(text) : text);
  }

  /** Writes text as it is. */
  write(text: string): void {
    if (!this.#closed) this.#full = !this.#stream.write(text);
  }

  /** Resolves when the reader has caught up: a long listing waits for it. */
  async drained(): Promise<void> {
    if (!this.#full || this.#closed) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  /**
   * Resolves when all that was written has left this process, or can't.
   *
   * @returns the stream's error: a full disk, or that its reader has gone.
   */
  async settled(): Promise<unknown> {
    // A stream calls back before it tells its error.
    const written = (done: () => void) => this.#stream.write("", () => setImmediate(done));
    if (!this.#closed) await new Promise<void>(written);
    return this.#failure;
  }

  style(style: Style, text: string): string {
    return this.#coloured && text !== "" ? styleText(style, text, { validateStream: false }) : text;
  }

  #caughtUp(): void {
    this.#full = false;
    this.#wake?.();
    this.#wake = undefined;
  }
}
