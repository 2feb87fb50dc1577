import { connect, type Socket } from "node:net";

/** A connection that says exactly what it is told to. */
export class RawConnection {
  readonly socket: Socket;
  readonly #ended: Promise<void>;
  #text = "";
  #wake: (() => void) | undefined;

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.setEncoding("latin1");
    this.socket.on("data", (text: string) => {
      this.#text += text;
      this.#wake?.();
    });
    this.socket.on("error", () => {});
    this.#ended = new Promise((resolve) => {
      this.socket.once("close", () => {
        resolve();
        this.#wake?.();
      });
    });
  }

  /** All that came so far. */
  get text(): string {
    return this.#text;
  }

  send(...lines: string[]): this {
    this.socket.write(lines.join("\r\n"));
    return this;
  }

  /** Resolves with all that came, once it has the text; or when the other side ended. */
  async until(part: string): Promise<string> {
    while (!this.#text.includes(part) && !this.socket.destroyed) await this.more();
    return this.#text;
  }

  /** Resolves when more has come, or the other side has ended. */
  more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Resolves with all that came when the other side has closed the connection. */
  async end(): Promise<string> {
    await this.#ended;
    return this.#text;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}
