import { StringDecoder } from "node:string_decoder";
import type { RejectedLine } from "../../replay/door.ts";
import type { Io } from "../command.ts";
import { safe } from "../terminal/text.ts";
import type { OutputPlan } from "./output-plan.ts";
import { OutputWriter } from "./output-writer.ts";

const LINE_FEED = 0x0a;

/** Copies rejected lines byte for byte, so that they can be corrected and replayed. */
export class RejectsFile {
  readonly #output: OutputWriter;
  /** Set for a terminal, on which control characters are escaped. */
  readonly #decoder: StringDecoder | undefined;
  /** Whether the output ends with a line feed. */
  #lineEnded = true;
  #inLine = false;

  /** @param live whether the output is a terminal. */
  constructor(output: OutputWriter, live: boolean) {
    this.#output = output;
    if (live) this.#decoder = new StringDecoder("utf8");
  }

  /** @throws CliError if the file cannot be written. */
  static async open(plan: OutputPlan, io: Io): Promise<RejectsFile> {
    const live = plan.to.kind === "stdout" && io.out.live;
    return new RejectsFile(await OutputWriter.open(plan, io), live);
  }

  /** @throws CliError if the file cannot be written. */
  async add({ bytes, last }: RejectedLine): Promise<void> {
    // The last line of a file may have no line feed. The next file must start on a new line.
    const apart = this.#inLine || this.#lineEnded ? bytes : Buffer.concat([NEW_LINE, bytes]);
    this.#inLine = !last;
    if (bytes.length > 0) this.#lineEnded = bytes.at(-1) === LINE_FEED;
    if (apart.length === 0) return;
    // A copy, because the reader may reuse the buffer.
    const copy = this.#decoder === undefined ? Buffer.from(apart) : shown(apart, this.#decoder);
    await this.#output.write(copy);
  }

  /** @throws CliError if the file cannot be written. */
  close(): Promise<void> {
    return this.#output.close();
  }
}

/** A part of a line may end inside a character. The decoder keeps its first bytes. */
function shown(bytes: Buffer, decoder: StringDecoder): string {
  const lines = decoder.write(bytes).split("\n");
  return lines.map(safe).join("\n");
}

const NEW_LINE = Buffer.from([LINE_FEED]);
