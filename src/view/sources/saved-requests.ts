import { open } from "node:fs/promises";
import { CliError, type Fields, messageOf, safe } from "../../cli/door.ts";
import { endsInsideLine } from "../../events/door.ts";

/**
 * The file of `--save`: a line of OTLP/JSON for each request. A new file can be read by its owner only, also after
 * another program moved the old one away. An existing file keeps its mode.
 */
export class SavedRequests {
  readonly #path: string;
  readonly #onProblem: (problem: string) => void;
  /** Lines are written one after the other. */
  #written: Promise<void> = Promise.resolve();

  private constructor(path: string, onProblem: (problem: string) => void) {
    this.#path = path;
    this.#onProblem = onProblem;
  }

  /**
   * @param onProblem called for each request that is not saved, and for a file that others can read.
   * @throws (rejects) CliError when the file can't be written.
   */
  static async open(path: string, onProblem: (problem: string) => void): Promise<SavedRequests> {
    const saved = new SavedRequests(path, onProblem);
    try {
      await saved.#append("");
    } catch (error) {
      throw new CliError(`--save: ${safe(messageOf(error))}`, undefined, { cause: error });
    }
    return saved;
  }

  /** Resolves when the request was passed to the system, or its problem was reported. */
  add(request: Fields): Promise<void> {
    let line: string;
    try {
      line = `${JSON.stringify(request)}\n`;
    } catch (error) {
      // It nests too deeply.
      this.#onProblem(`--save: a request cannot be written: ${messageOf(error)}`);
      return Promise.resolve();
    }
    // The spans are on the page all the same.
    this.#written = this.#written
      .then(() => this.#append(line))
      .catch((error: unknown) => this.#onProblem(`--save: ${messageOf(error)}`));
    return this.#written;
  }

  /** Resolves when all lines are written. */
  close(): Promise<void> {
    return this.#written;
  }

  async #append(line: string): Promise<void> {
    const file = await open(this.#path, "a+", 0o600);
    try {
      const stats = await file.stat();
      const others = stats.mode & 0o077;
      // On Windows, the mode does not say who can read a file.
      if (stats.isFile() && others !== 0 && process.platform !== "win32") {
        const mode = (stats.mode & 0o777).toString(8);
        this.#onProblem(`--save: others can use ${this.#path} (mode ${mode}): chmod 600 it`);
      }
      // Half a line of a killed process or of a full disk must not spoil this one.
      const start = line !== "" && endsInsideLine(file.fd) ? "\n" : "";
      await file.appendFile(`${start}${line}`);
    } finally {
      await file.close();
    }
  }
}
