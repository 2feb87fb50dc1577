import { once } from "node:events";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import type { RejectedLine } from "../../ingest/event-intake.ts";
import { CliError, isBrokenPipe, messageOf } from "../cli-error.ts";
import type { Io } from "../command.ts";
import { safe } from "../terminal/text.ts";
import type { OutputPlan } from "./output-plan.ts";
import { openOutput } from "./replay-outputs.ts";

const LINE_FEED = 0x0a;

/** Copies rejected lines, byte for byte, so that they can be mended and replayed. */
export class RejectsFile {
  readonly #stream: Writable;
  readonly #end: boolean;
  /** Of a terminal, which must not get the control characters of the data. */
  readonly #decoder: StringDecoder | undefined;
  #failure: Error | undefined;
  /** Whether what was written last ended with a line end. */
  #lineEnded = true;
  #inLine = false;

  /**
   * @param end whether the stream is ended with the lines; the standard output is not.
   * @param live whether it is a terminal: what could do something to it is shown escaped.
   */
  constructor(stream: Writable, end: boolean, live = false) {
    this.#stream = stream;
    this.#end = end;
    if (live) this.#decoder = new StringDecoder("utf8");
    stream.on("error", (error) => {
      this.#failure = error;
    });
  }

  /** @throws CliError when the file can't be written. */
  static async open(plan: OutputPlan, io: Io): Promise<RejectsFile> {
    const { end, stream } = await openOutput(plan, io);
    return new RejectsFile(stream, end, !end && io.out.live);
  }

  /** @throws CliError when the file can't be written. */
  async add({ bytes, last }: RejectedLine): Promise<void> {
    // The last line of a file may have no end; the first one of the next file must not join it.
    const apart = this.#inLine || this.#lineEnded ? bytes : Buffer.concat([NEW_LINE, bytes]);
    this.#inLine = !last;
    if (bytes.length > 0) this.#lineEnded = bytes.at(-1) === LINE_FEED;
    if (apart.length === 0) return;
    // A copy: the bytes are a view of what the reader may use again.
    const copy = this.#decoder === undefined ? Buffer.from(apart) : shown(apart, this.#decoder);
    await this.#guarded(async () => {
      if (!this.#stream.write(copy)) await once(this.#stream, "drain");
    });
  }

  /** @throws CliError when the file can't be written. */
  close(): Promise<void> {
    return this.#guarded(async () => {
      if (!this.#end) return;
      this.#stream.end();
      await finished(this.#stream);
    });
  }

  async #guarded(write: () => Promise<void>): Promise<void> {
    try {
      if (this.#failure !== undefined) throw this.#failure;
      await write();
    } catch (error) {
      // The reader of standard output has gone: that is no fault of the option's.
      if (isBrokenPipe(error)) throw error;
      throw new CliError(`--rejects: ${safe(messageOf(error))}`, undefined, { cause: error });
    }
  }
}

/** A line may come in parts, with a character cut in two: the decoder keeps the first half. */
function shown(bytes: Buffer, decoder: StringDecoder): string {
  const lines = decoder.write(bytes).split("\n");
  return lines.map(safe).join("\n");
}

const NEW_LINE = Buffer.from([LINE_FEED]);
