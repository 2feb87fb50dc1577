import { createHash } from "node:crypto";
import { isCount, isObject, parseJson } from "../../events/door.ts";
import { type ThreadKey, threadText } from "../audit-row.ts";
import type { FileLayer, LogFile } from "../storage/file-layer.ts";
import {
  type FileLine,
  fileLines,
  findLine,
  lineText,
  MAX_LINE_BYTES,
} from "../storage/file-lines.ts";
import { writeFully, writeThroughDraft } from "../storage/file-writes.ts";
import type { Commit } from "./commit-chain.ts";
import type { ThreadSpan, ThreadSpans } from "./segment-scan.ts";

/** What an index says about its segment. */
export interface IndexHeader {
  /** Size of the segment. */
  readonly bytes: number;
  readonly rows: number;
  /** The segment's last commit. The index is only valid for a segment of this size with this end. */
  readonly last: Commit;
}

/** A complete index. */
export interface LoadedIndex extends IndexHeader {
  /** {@link threadHash} of each thread, ascending. */
  readonly hashes: Uint32Array;
}

/** 32 bits of a thread's name, to skip segments that cannot hold it. */
export function threadHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** The {@link threadHash} of each thread, ascending. */
export function hashesOf(threads: ThreadSpans): Uint32Array {
  const hashes = new Uint32Array(threads.size);
  let at = 0;
  for (const name of threads.keys()) {
    hashes[at] = threadHash(name);
    at += 1;
  }
  return hashes.sort();
}

/** Whether one of the sorted `hashes` is `hash`. About one other thread in 2^32 has the same hash. */
export function mayHold(hashes: Uint32Array, hash: number): boolean {
  let low = 0;
  let high = hashes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((hashes[middle] ?? 0) < hash) low = middle + 1;
    else high = middle;
  }
  return hashes[low] === hash;
}

const PIECE = 64 * 1024;

const FOOTER = '{"threads":';
const FOOTER_LINE = /\n\{"threads":\d+,"sha256":"[0-9a-f]{64}"\}\n$/;
/** In bytes, with its newlines. */
const LONGEST_FOOTER = 128;

/**
 * Writes the index of a sealed segment: a header, one line a thread, and the SHA-256 of these lines.
 *
 * Everything in it is also in the segment, so a missing or torn index is made again.
 */
export async function writeIndex(
  files: FileLayer,
  path: string,
  header: IndexHeader,
  threads: ThreadSpans,
): Promise<void> {
  await writeThroughDraft(files, { draft: `${path}.tmp`, path }, async (file) => {
    const hasher = createHash("sha256");
    let position = 0;
    let piece = headerLine(header);
    for (const span of threads.values()) {
      piece += spanLine(span);
      if (piece.length < PIECE) continue;
      hasher.update(piece);
      position = await writeFully(file, Buffer.from(piece), position);
      piece = "";
    }
    hasher.update(piece);
    const footer = `${FOOTER}${threads.size},"sha256":"${hasher.digest("hex")}"}\n`;
    await writeFully(file, Buffer.from(piece + footer), position);
  });
}

/** The header and the threads' hashes of an index. `undefined` if it is missing, torn or of another form. */
export async function loadIndex(files: FileLayer, path: string): Promise<LoadedIndex | undefined> {
  const hashes: number[] = [];
  const hasher = createHash("sha256");
  let header: IndexHeader | undefined;
  let whole = false;
  for await (const line of linesOf(files, path)) {
    if (whole) return undefined;
    const value = parseJson(lineText(line.bytes));
    if (header === undefined) {
      header = readHeader(value);
      if (header === undefined) return undefined;
    } else if (isObject(value) && "sha256" in value) {
      if (value.sha256 !== hasher.digest("hex")) return undefined;
      whole = true;
      continue;
    } else {
      const span = readSpan(value);
      if (span === undefined) return undefined;
      hashes.push(threadHash(threadText(span)));
    }
    hasher.update(line.bytes).update("\n");
  }
  if (header === undefined || !whole) return undefined;
  return { ...header, hashes: Uint32Array.from(hashes).sort() };
}

/** The threads of an index, in any order. */
export async function* indexedThreads(files: FileLayer, path: string): AsyncGenerator<ThreadSpan> {
  for await (const line of linesOf(files, path)) {
    const span = readSpan(parseJson(lineText(line.bytes)));
    if (span !== undefined) yield span;
  }
}

/** What an index says about a thread. `whole`: the answer is reliable. */
export interface IndexAnswer {
  readonly span: ThreadSpan | undefined;
  readonly whole: boolean;
}

/** Looks up a thread. If the index is incomplete, a thread that was not found may still be in the segment. */
export async function findInIndex(
  files: FileLayer,
  path: string,
  key: ThreadKey,
): Promise<IndexAnswer> {
  const file = await files.open(path, "read");
  if (file === undefined) return { span: undefined, whole: false };
  try {
    const line = await findLine(file, spanPrefix(key), MAX_LINE_BYTES);
    const span = line && readSpan(parseJson(lineText(line)));
    return { span, whole: span !== undefined || (await hasEnd(file)) };
  } finally {
    await file.close();
  }
}

/** Whether the last line is the end of an index. */
async function hasEnd(file: LogFile): Promise<boolean> {
  const size = await file.size();
  const end = Buffer.alloc(Math.min(size, LONGEST_FOOTER));
  await file.read(end, size - end.length);
  return FOOTER_LINE.test(end.toString("latin1"));
}

async function* linesOf(files: FileLayer, path: string): AsyncGenerator<FileLine> {
  const file = await files.open(path, "read");
  if (file === undefined) return;
  try {
    yield* wholeLines(file);
  } finally {
    await file.close();
  }
}

async function* wholeLines(file: LogFile): AsyncGenerator<FileLine> {
  for await (const line of fileLines(file, await file.size())) {
    if (line.ended && !line.tooLong) yield line;
  }
}

function headerLine({ bytes, rows, last }: IndexHeader): string {
  return `{"index":1,"bytes":${bytes},"rows":${rows},"commit":${last.commit},"hash":"${last.hash}"}\n`;
}

function readHeader(value: unknown): IndexHeader | undefined {
  if (!isObject(value) || value.index !== 1) return undefined;
  const { bytes, rows, commit, hash } = value;
  if (!isCount(bytes) || !isCount(rows) || !isCount(commit) || typeof hash !== "string") {
    return undefined;
  }
  return { bytes, rows, last: { commit, hash } };
}

function spanPrefix(key: ThreadKey): string {
  return `{"tenant_id":${JSON.stringify(key.tenant_id)},"thread_id":${JSON.stringify(key.thread_id)},"first":`;
}

function spanLine(span: ThreadSpan): string {
  return `${spanPrefix(span)}${span.first},"last":${span.last},"hash":"${span.hash}","archived":${span.archived}}\n`;
}

function readSpan(value: unknown): ThreadSpan | undefined {
  if (!isObject(value)) return undefined;
  const { tenant_id, thread_id, first, last, hash, archived } = value;
  if (typeof tenant_id !== "string" || typeof thread_id !== "string") return undefined;
  if (!isCount(first) || !isCount(last) || !isCount(archived) || typeof hash !== "string") {
    return undefined;
  }
  return { tenant_id, thread_id, first, last, hash, archived };
}
