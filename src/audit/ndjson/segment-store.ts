import { join } from "node:path";
import { checkGivenText } from "../../events/door.ts";
import { type AuditRow, type RowAnchor, type ThreadKey, threadText } from "../audit-row.ts";
import { threadPrefix } from "../row-text.ts";
import type { FileLayer, LogFile } from "../storage/file-layer.ts";
import { fileLines } from "../storage/file-lines.ts";
import { numbersOf } from "../storage/segmented-log.ts";
import { withEvent } from "../stored-row.ts";
import type { Commit } from "./commit-chain.ts";
import { readLogLine } from "./log-line.ts";
import {
  findInIndex,
  hashesOf,
  type IndexHeader,
  indexedThreads,
  loadIndex,
  writeIndex,
} from "./segment-index.ts";
import {
  type SegmentScan,
  scanSegment,
  type ThreadSpan,
  type ThreadSpans,
} from "./segment-scan.ts";

/** A segment that is complete. Only 32 bits of each of its threads stay in memory. */
export interface SealedSegment {
  readonly number: number;
  readonly rows: number;
  /** Its last commit. */
  readonly last: Commit;
  /** `threadHash` of each of its threads, ascending. */
  readonly hashes: Uint32Array;
  /** Its threads, while its index is being written. */
  threads: ThreadSpans | undefined;
  /** Moved to the archive folder, because every row is archived. */
  archived: boolean;
}

/** A segment's file, opened for reading. */
export interface FoundSegment {
  readonly file: LogFile;
  readonly bytes: number;
  readonly archived: boolean;
}

/** The files of sealed segments, and their indexes. */
export class SegmentStore {
  readonly #files: FileLayer;
  readonly #paths: LogPaths;

  constructor(files: FileLayer, paths: LogPaths) {
    this.#files = files;
    this.#paths = paths;
  }

  /**
   * Loads a sealed segment. Writes its index again if it is missing or belongs to other bytes.
   *
   * @returns `undefined` if neither the segment nor its index exists. The index alone is enough to continue the
   *   threads: the archive may have been moved elsewhere.
   */
  async load(number: number): Promise<SealedSegment | undefined> {
    const found = await this.open(number);
    try {
      const index = await loadIndex(this.#files, this.#indexPath(number));
      const archived = found?.archived ?? true;
      if (index !== undefined && (found === undefined || (await endsWith(found, index)))) {
        const { hashes, last, rows } = index;
        return { number, rows, last, hashes, threads: undefined, archived };
      }
      if (found === undefined) return undefined;
      const { chain, rows, threads } = await this.#rescan(number, found);
      const hashes = hashesOf(threads);
      return { number, rows, last: chain.last, hashes, threads: undefined, archived };
    } finally {
      await found?.file.close();
    }
  }

  /** Opens a segment, in the directory or in the archive. */
  async open(number: number): Promise<FoundSegment | undefined> {
    for (const folder of [this.#paths.root, this.#paths.archive]) {
      const file = await this.#files.open(join(folder, segmentName(number)), "read");
      if (file === undefined) continue;
      return { file, bytes: await file.size(), archived: folder === this.#paths.archive };
    }
    return undefined;
  }

  /** The result of `work` on an open segment. `undefined` if the segment is gone. */
  async read<T>(number: number, work: (found: FoundSegment) => Promise<T>): Promise<T | undefined> {
    const found = await this.open(number);
    try {
      return found && (await work(found));
    } finally {
      await found?.file.close();
    }
  }

  writeIndex(number: number, header: IndexHeader, threads: ThreadSpans): Promise<void> {
    return writeIndex(this.#files, this.#indexPath(number), header, threads);
  }

  /** The rows of a thread in a segment. */
  async find(segment: SealedSegment, key: ThreadKey): Promise<ThreadSpan | undefined> {
    if (segment.threads !== undefined) return segment.threads.get(threadText(key));
    const answer = await findInIndex(this.#files, this.#indexPath(segment.number), key);
    if (answer.whole) return answer.span;
    return (await this.#recover(segment.number)).threads.get(threadText(key));
  }

  /** All threads of a segment. */
  async *threadsOf(segment: SealedSegment): AsyncGenerator<ThreadSpan> {
    const path = this.#indexPath(segment.number);
    const inMemory = segment.threads;
    if (inMemory !== undefined) {
      yield* inMemory.values();
    } else if ((await loadIndex(this.#files, path)) !== undefined) {
      yield* indexedThreads(this.#files, path);
    } else {
      yield* (await this.#recover(segment.number)).threads.values();
    }
  }

  /**
   * Adds the rows of a thread with ordinals above `after` to `rows`, in the order of the file.
   *
   * @param until reads up to this offset; `undefined`: to the end.
   * @throws Error naming the file when it is gone.
   * @throws Error naming file and line when a row is damaged or does not continue `rows`: a changed row must not be
   *   returned as a record.
   */
  async addRows(
    { number, until }: { readonly number: number; readonly until: number | undefined },
    key: ThreadKey,
    after: number,
    rows: AuditRow[],
  ): Promise<void> {
    const name = segmentName(number);
    const found = await this.read(number, async ({ bytes, file }) => {
      await readThreadRows({ name, file, bytes: until ?? bytes }, key, after, rows);
      return true;
    });
    if (found === undefined) throw new Error(`${name}: the file is gone`);
  }

  /** Moves a segment to the archive. Its index stays, because threads continue from it. */
  async moveToArchive(number: number): Promise<void> {
    const { archive, root } = this.#paths;
    await this.#files.makeDirectory(archive);
    await this.#files.rename(join(root, segmentName(number)), join(archive, segmentName(number)));
    await this.#files.syncDirectory(archive);
    await this.#files.syncDirectory(root);
  }

  /** Reads the segment because its index is gone. Treating the thread as new would start its chain a second time. */
  async #recover(number: number): Promise<SegmentScan> {
    const scan = await this.read(number, (found) => this.#rescan(number, found));
    if (scan !== undefined) return scan;
    throw new Error(`${segmentName(number)}: expected the segment or its index to be there`);
  }

  async #rescan(number: number, found: FoundSegment): Promise<SegmentScan> {
    const scan = await scanSegment(found.file, { until: found.bytes });
    const { chain, rows, threads } = scan;
    // Errors are ignored: without the index, the next look-up reads the segment again.
    await this.writeIndex(number, { bytes: found.bytes, rows, last: chain.last }, threads).catch(
      () => {},
    );
    return scan;
  }

  #indexPath(number: number): string {
    return join(this.#paths.root, indexName(number));
  }
}

/** Whether the segment has the size and the last commit of its index. */
async function endsWith({ bytes, file }: FoundSegment, index: IndexHeader): Promise<boolean> {
  const end = Buffer.from(`"hash":"${index.last.hash}"}\n`);
  if (bytes !== index.bytes || bytes < end.length) return false;
  const tail = Buffer.alloc(end.length);
  return (await file.read(tail, bytes - end.length)) === end.length && tail.equals(end);
}

async function readThreadRows(
  source: { readonly name: string; readonly file: LogFile; readonly bytes: number },
  key: ThreadKey,
  after: number,
  rows: AuditRow[],
): Promise<void> {
  const prefix = Buffer.from(threadPrefix(key));
  for await (const { bytes, number } of fileLines(source.file, source.bytes)) {
    if (bytes.length < prefix.length || prefix.compare(bytes, 0, prefix.length) !== 0) continue;
    const line = readLogLine(bytes);
    const position = `${source.name}, line ${number}`;
    if (line.type === "invalid") {
      if (line.claim !== undefined && line.claim.ordinal <= after) continue;
      throw damaged(position, line.problem);
    }
    if (line.type !== "row" || line.row.ordinal <= after) continue;
    const before: RowAnchor | undefined = rows.at(-1);
    if (line.row.ordinal !== (before?.ordinal ?? after) + 1) {
      throw damaged(position, `row ${line.row.ordinal} is not the one that must follow`);
    }
    if (before !== undefined && line.row.prev !== before.hash) {
      throw damaged(position, `row ${line.row.ordinal} does not continue the row before`);
    }
    const row = withEvent(line.row);
    if (row === undefined) throw damaged(position, "the event is no JSON object with a kind");
    rows.push(row);
  }
}

function damaged(position: string, problem: string): Error {
  return new Error(`${position}: ${problem}; verify the log`);
}

/** The directories of a log. Names of tenants and threads never become paths. */
export interface LogPaths {
  readonly root: string;
  /** Segments whose rows are all archived. */
  readonly archive: string;
  /** Copies of incomplete writes. */
  readonly torn: string;
}

export function logPaths(directory: string): LogPaths {
  checkGivenText(directory, "directory");
  return { root: directory, archive: join(directory, "archive"), torn: join(directory, "torn") };
}

export function segmentName(segment: number): string {
  return `segment-${String(segment).padStart(8, "0")}.ndjson`;
}

export function indexName(segment: number): string {
  return `segment-${String(segment).padStart(8, "0")}.index`;
}

/** The segment numbers among some file names, ascending from 1. */
export function segmentsIn(names: readonly string[]): number[] {
  return numbersOf(names, segmentName).filter((number) => number > 0);
}

/** The index numbers among some file names, ascending. */
export function indexesIn(names: readonly string[]): number[] {
  return numbersOf(names, indexName).filter((number) => number > 0);
}
