import { randomBytes } from "node:crypto";
import { type BigIntStats, rmSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Writable } from "node:stream";
import { messageOf } from "../cli-error.ts";
import { endBy } from "../services/signals.ts";

type Done = (error?: Error | null) => void;

/**
 * A file that is there as a whole or not at all: it is written beside its place, under another name, and put
 * there when it has ended. Until then, and where that fails, what was there before stays as it is.
 */
export class ReplacedFile extends Writable {
  readonly #path: string;
  readonly #draft: string;
  readonly #handle: FileHandle;

  private constructor(path: string, draft: string, handle: FileHandle) {
    super();
    this.#path = path;
    this.#draft = draft;
    this.#handle = handle;
  }

  /**
   * @param path of the file, no part of it a link.
   * @param existing the file that is replaced: the new one gets its mode, and its owner where that is allowed.
   */
  static async open(path: string, existing: BigIntStats | undefined): Promise<ReplacedFile> {
    const draft = join(dirname(path), `.entelix-otel-${randomBytes(6).toString("hex")}.tmp`);
    const handle = await open(draft, "wx", existing === undefined ? 0o666 : 0o600);
    keepTrackOf(draft);
    if (existing !== undefined) {
      await handle.chown(Number(existing.uid), Number(existing.gid)).catch(() => {});
      await handle.chmod(Number(existing.mode & 0o7777n));
    }
    return new ReplacedFile(path, draft, handle);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#handle.writeFile(chunk).then(() => done(), done);
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: Done): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), "utf8", done);
  }

  override _final(done: Done): void {
    this.#putInPlace().then(() => done(), done);
  }

  override _destroy(error: Error | null, done: Done): void {
    const gone = () => done(error);
    this.#discard().then(gone, gone);
  }

  async #putInPlace(): Promise<void> {
    await this.#handle.sync();
    await this.#handle.close();
    try {
      await rename(this.#draft, this.#path);
    } catch (cause) {
      const message = `${this.#path}: can't be replaced: ${messageOf(cause)}. The output is whole in ${this.#draft}`;
      throw new Error(message, { cause });
    } finally {
      drafts.delete(this.#draft);
    }
  }

  async #discard(): Promise<void> {
    if (!drafts.has(this.#draft)) return;
    await this.#handle.close().catch(() => {});
    await rm(this.#draft, { force: true });
    drafts.delete(this.#draft);
  }
}

/** Files that are not in their places yet. Whatever ends the process but SIGKILL removes them. */
const drafts = new Set<string>();
let isListening = false;

function keepTrackOf(draft: string): void {
  drafts.add(draft);
  if (isListening) return;
  isListening = true;
  process.on("exit", removeDrafts);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      removeDrafts();
      endBy(signal);
    });
  }
}

function removeDrafts(): void {
  for (const draft of drafts) rmSync(draft, { force: true });
}
