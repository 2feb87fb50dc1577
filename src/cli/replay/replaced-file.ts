import { randomBytes } from "node:crypto";
import { type BigIntStats, rmSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Writable } from "node:stream";
import { messageOf } from "../cli-error.ts";
import { cleanAtEnd } from "../services/signals.ts";

type Done = (error?: Error | null) => void;

/**
 * Replaces a file atomically: writes a temporary file in the same directory and renames it at the end. Until then, and
 * after an error, an existing file is unchanged.
 */
export class ReplacedFile extends Writable {
  readonly #path: string;
  readonly #draft: string;
  readonly #handle: FileHandle;
  /** Cancels the removal of the temporary file at the end of the process (except by SIGKILL). */
  readonly #release: () => void;
  #isDraft = true;

  private constructor(path: string, draft: string, handle: FileHandle) {
    super();
    this.#path = path;
    this.#draft = draft;
    this.#handle = handle;
    this.#release = cleanAtEnd(() => rmSync(draft, { force: true }));
  }

  /**
   * @param path of the file, without links.
   * @param existing the replaced file. The new one gets its mode and, if permitted, its owner.
   */
  static async open(path: string, existing: BigIntStats | undefined): Promise<ReplacedFile> {
    const draft = join(dirname(path), `.entelix-otel-${randomBytes(6).toString("hex")}.tmp`);
    const handle = await open(draft, "wx", existing === undefined ? 0o666 : 0o600);
    const file = new ReplacedFile(path, draft, handle);
    if (existing !== undefined) {
      await handle.chown(Number(existing.uid), Number(existing.gid)).catch(() => {});
      await handle.chmod(Number(existing.mode & 0o7777n));
    }
    return file;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#handle.writeFile(chunk).then(() => done(), done);
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: Done): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), "utf8", done);
  }

  override _final(done: Done): void {
    this.#rename().then(() => done(), done);
  }

  override _destroy(error: Error | null, done: Done): void {
    const gone = () => done(error);
    this.#discard().then(gone, gone);
  }

  async #rename(): Promise<void> {
    await this.#handle.sync();
    await this.#handle.close();
    try {
      await rename(this.#draft, this.#path);
    } catch (cause) {
      const message = `${this.#path}: cannot be replaced: ${messageOf(cause)}. The complete output is in ${this.#draft}`;
      throw new Error(message, { cause });
    } finally {
      this.#isDraft = false;
      this.#release();
    }
  }

  async #discard(): Promise<void> {
    if (!this.#isDraft) return;
    await this.#handle.close().catch(() => {});
    await rm(this.#draft, { force: true });
    this.#isDraft = false;
    this.#release();
  }
}
