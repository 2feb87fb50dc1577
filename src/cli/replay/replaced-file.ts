import { randomBytes } from "node:crypto";
import { type BigIntStats, rmSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Writable } from "node:stream";
import { messageOf } from "../cli-error.ts";
import { cleanAtEnd } from "../services/signals.ts";

type Done = (error?: Error | null) => void;

/**
 * A file that is there as a whole or not at all: it is written beside its place, under another name, and put
 * there when it has ended. Until then, and where that fails, what was there before stays as it is.
 */
export class ReplacedFile extends Writable {
  readonly #path: string;
  readonly #draft: string;
  readonly #handle: FileHandle;
  /** Until it is in its place, whatever ends the process but SIGKILL removes it. */
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
   * @param path of the file, no part of it a link.
   * @param existing the file that is replaced: the new one gets its mode, and its owner where that is allowed.
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
