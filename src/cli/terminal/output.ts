import { styleText } from "node:util";
import { safeJson } from "./text.ts";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** The part of `process.stdout` and `process.stderr` that an {@link Output} uses. */
interface OutputStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string, written?: () => void): boolean;
  on(event: "drain" | "error", listener: (error?: unknown) => void): unknown;
}

/**
 * Standard output or standard error. Without colours if it is piped or `NO_COLOR` is set. Writes nothing after its
 * reader has closed the pipe (`entelix-otel audit show DIR | head`).
 */
export class Output {
  /** Whether the output is a terminal with cursor control. */
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
    // Without a listener, the process would end with a stack trace.
    stream.on("error", (error) => {
      this.#failure ??= error;
      this.#closed = true;
      this.#caughtUp();
    });
  }

  /** Whether the reader has closed the pipe, so that a long listing can stop. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Columns of the terminal. Infinite when piped. */
  get columns(): number {
    // A pseudo-terminal without a size has 0, for example in CI jobs and containers.
    return this.live ? Math.max(this.#stream.columns || 80, 20) : Number.POSITIVE_INFINITY;
  }

  /** Writes a line. Data in it must be escaped with `safe`. */
  line(text = ""): void {
    this.write(`${text}\n`);
  }

  /** Writes a line of JSON. On a terminal, control characters are escaped. */
  json(text: string): void {
    this.line(this.live ? safeJson(text) : text);
  }

  /** Writes text without changes. */
  write(text: string): void {
    if (!this.#closed) this.#full = !this.#stream.write(text);
  }

  /** Resolves when the stream accepts more text. */
  async drained(): Promise<void> {
    if (!this.#full || this.#closed) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  /**
   * Resolves when all text was written, or failed.
   *
   * @returns the stream's error, for example a full disk or a closed pipe; `undefined` without one.
   */
  async settled(): Promise<unknown> {
    // A stream calls back before it emits its error.
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
