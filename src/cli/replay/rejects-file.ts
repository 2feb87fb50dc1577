import { StringDecoder } from "node:string_decoder";
import type { RejectedLine } from "../../replay/door.ts";
import type { Io } from "../command.ts";
import { safe } from "../terminal/text.ts";
import type { OutputPlan } from "./output-plan.ts";
import { OutputWriter } from "./output-writer.ts";

const LINE_FEED = 0x0a;

/** Copies rejected lines, byte for byte, so that they can be mended and replayed. */
export class RejectsFile {
  readonly #output: OutputWriter;
  /** Of a terminal, which must not get the control characters of the data. */
  readonly #decoder: StringDecoder | undefined;
  /** Whether what was written last ended with a line end. */
  #lineEnded = true;
  #inLine = false;

  /** @param live whether it is a terminal: what could do something to it is shown escaped. */
  constructor(output: OutputWriter, live: boolean) {
    this.#output = output;
    if (live) this.#decoder = new StringDecoder("utf8");
  }

  /** @throws CliError when the file can't be written. */
  static async open(plan: OutputPlan, io: Io): Promise<RejectsFile> {
    const live = plan.to.kind === "stdout" && io.out.live;
    return new RejectsFile(await OutputWriter.open(plan, io), live);
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
    await this.#output.write(copy);
  }

  /** @throws CliError when the file can't be written. */
  close(): Promise<void> {
    return this.#output.close();
  }
}

/** A line may come in parts, with a character cut in two: the decoder keeps the first half. */
function shown(bytes: Buffer, decoder: StringDecoder): string {
  const lines = decoder.write(bytes).split("\n");
  return lines.map(safe).join("\n");
}

const NEW_LINE = Buffer.from([LINE_FEED]);
