import { once } from "node:events";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { CliError, isBrokenPipe, messageOf } from "../cli-error.ts";
import type { Io } from "../command.ts";
import { safe } from "../terminal/text.ts";
import type { OutputPlan } from "./output-plan.ts";
import { openOutput } from "./replay-outputs.ts";

/** Writes to the target of an option, with back-pressure. */
export class OutputWriter {
  readonly #option: string;
  readonly #stream: Writable;
  readonly #end: boolean;
  #failure: Error | undefined;

  /** @param end whether `close` ends the stream. Standard output stays open. */
  constructor(option: string, stream: Writable, end: boolean) {
    this.#option = option;
    this.#stream = stream;
    this.#end = end;
    stream.on("error", (error) => {
      this.#failure = error;
    });
  }

  /** @throws CliError if it cannot be written. */
  static async open(plan: OutputPlan, io: Io): Promise<OutputWriter> {
    const { end, stream } = await openOutput(plan, io);
    return new OutputWriter(plan.option, stream, end);
  }

  /** @throws (rejects) CliError if it cannot be written. */
  write(piece: string | Uint8Array): Promise<void> {
    return this.#guarded(async () => {
      if (!this.#stream.write(piece)) await once(this.#stream, "drain");
    });
  }

  /** @throws (rejects) CliError if it cannot be written. */
  close(): Promise<void> {
    return this.#guarded(async () => {
      if (!this.#end) return;
      this.#stream.end();
      await finished(this.#stream);
    });
  }

  /** Discards the written data. An existing file stays unchanged. */
  discard(): void {
    if (this.#end) this.#stream.destroy();
  }

  async #guarded(write: () => Promise<void>): Promise<void> {
    try {
      if (this.#failure !== undefined) throw this.#failure;
      await write();
    } catch (error) {
      // A closed pipe is not an error of the option.
      if (isBrokenPipe(error)) throw error;
      throw new CliError(`${this.#option}: ${safe(messageOf(error))}`, undefined, { cause: error });
    }
  }
}
