import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanAtEnd } from "../../cli/door.ts";

/** A folder that only its owner can read. It is removed at the end, also by a signal. */
export class TemporaryFolder {
  readonly path: string;
  readonly #remove = () => rmSync(this.path, { recursive: true, force: true });
  readonly #release: () => void;

  private constructor(path: string) {
    this.path = path;
    this.#release = cleanAtEnd(this.#remove, ["SIGINT", "SIGTERM", "SIGHUP"]);
  }

  static async make(): Promise<TemporaryFolder> {
    return new TemporaryFolder(await mkdtemp(join(tmpdir(), "entelix-otel-view-")));
  }

  remove(): void {
    this.#release();
    this.#remove();
  }
}
