import { once } from "node:events";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { CliError, isBrokenPipe, messageOf } from "../cli-error.ts";
import type { Io } from "../command.ts";
import { safe } from "../terminal/text.ts";
import type { OutputPlan } from "./output-plan.ts";
import { openOutput } from "./replay-outputs.ts";

/** Writes to what an option names, as fast as it is taken there. */
export class OutputWriter {
  readonly #option: string;
  readonly #stream: Writable;
  readonly #end: boolean;
  #failure: Error | undefined;

  /** @param end whether the stream is ended with what is written; the standard output is not. */
  constructor(option: string, stream: Writable, end: boolean) {
    this.#option = option;
    this.#stream = stream;
    this.#end = end;
    stream.on("error", (error) => {
      this.#failure = error;
    });
  }

  /** @throws CliError when it can't be written. */
  static async open(plan: OutputPlan, io: Io): Promise<OutputWriter> {
    const { end, stream } = await openOutput(plan, io);
    return new OutputWriter(plan.option, stream, end);
  }

  /** @throws (rejects) CliError when it can't be written. */
  write(piece: string | Uint8Array): Promise<void> {
    return this.#guarded(async () => {
      if (!this.#stream.write(piece)) await once(this.#stream, "drain");
    });
  }

  /** @throws (rejects) CliError when it can't be written. */
  close(): Promise<void> {
    return this.#guarded(async () => {
      if (!this.#end) return;
      this.#stream.end();
      await finished(this.#stream);
    });
  }

  /** What was written is not to be seen: a file stays as it was. */
  discard(): void {
    if (this.#end) this.#stream.destroy();
  }

  async #guarded(write: () => Promise<void>): Promise<void> {
    try {
      if (this.#failure !== undefined) throw this.#failure;
      await write();
    } catch (error) {
      // The reader of standard output has gone: that is no fault of the option's.
      if (isBrokenPipe(error)) throw error;
      throw new CliError(`${this.#option}: ${safe(messageOf(error))}`, undefined, { cause: error });
    }
  }
}
