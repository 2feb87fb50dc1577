import { join } from "node:path";
import type { FileLayer, LogFile } from "../storage/file-layer.ts";
import { orClosed, setAside, syncFile, writeFully } from "../storage/file-writes.ts";
import { refuseForeignLog } from "../storage/foreign-log.ts";
import { type Commit, commitText, headerText, LOG_VERSION, NO_COMMIT } from "./commit-chain.ts";
import { EventCache, LastEvents, recallSealed } from "./event-cache.ts";
import { type LogLine, otherVersion } from "./log-line.ts";
import type { OpenSegment } from "./log-writer.ts";
import type { NdjsonSettings } from "./ndjson-options.ts";
import { type DamagedLine, scanSegment } from "./segment-scan.ts";
import {
  indexesIn,
  type LogPaths,
  logPaths,
  type SealedSegment,
  SegmentStore,
  segmentName,
  segmentsIn,
} from "./segment-store.ts";

/** What opening found after a crash or an edit. */
export interface Recovery {
  /** Name of the last segment. Absent if it has no problem. */
  readonly file?: string;
  /** Bytes behind the last valid line, which were copied and cut off. Absent if there were none. */
  readonly torn?: {
    /** Path of the copy. */
    readonly copy: string;
    /** Offset of the bytes in the segment. */
    readonly offset: number;
    readonly bytes: number;
  };
  /** Complete lines behind the last commit. They are retained, and a new commit covers them. */
  readonly recoveredRows: number;
  /** Lines that the log did not write in this form, and that have valid lines behind them. They are unchanged. */
  readonly damage: readonly DamagedLine[];
  /** Numbers of segments that have neither a file nor an index. */
  readonly missingSegments: readonly number[];
}

export interface OpenedLog {
  readonly store: SegmentStore;
  /** The events of the last `eventIds` rows. With `lookUpBytes` those of the segment being written. */
  readonly events: EventCache;
  /** Ascending. */
  readonly sealed: readonly SealedSegment[];
  readonly active: OpenSegment;
  /** `undefined` after a clean end. */
  readonly recovery: Recovery | undefined;
}

/** Missing segments in the list, at most. A foreign file may have any number in its name. */
const MAX_MISSING = 100;

/** Reads the log and prepares it for writing. The caller holds the directory's lock. */
export async function openLog(directory: string, settings: NdjsonSettings): Promise<OpenedLog> {
  const { durability, eventIds, files, lookUpBytes } = settings;
  const lookUp = lookUpBytes > 0;
  const paths = logPaths(directory);
  const store = new SegmentStore(files, paths);
  const events = new EventCache(eventIds, lookUp);
  const names = await files.list(paths.root);
  refuseForeignLog(paths.root, "an audit log", names);
  const present = segmentsIn(names);
  const archived = segmentsIn(await files.list(paths.archive));
  const known = [...new Set([...present, ...archived, ...indexesIn(names)])].sort((a, b) => a - b);
  const highest = known.at(-1) ?? 0;
  // Only the last segment is continued, and only if it is not archived.
  const active = highest > 0 && present.at(-1) === highest ? highest : undefined;
  const sealed: SealedSegment[] = [];
  const missing: number[] = [];
  let next = 1;
  for (const number of known) {
    for (; next < number && missing.length < MAX_MISSING; next += 1) missing.push(next);
    next = number + 1;
    if (number === active) continue;
    const segment = await store.load(number);
    if (segment !== undefined) sealed.push(segment);
    else if (missing.length < MAX_MISSING) missing.push(number);
  }
  const last = new LastEvents(lookUp ? Number.POSITIVE_INFINITY : eventIds);
  const target = {
    files,
    paths,
    durable: durability !== "none",
    number: active ?? highest + 1,
    before: sealed.at(-1)?.last,
    onLine: last.take.bind(last),
  };
  const { recovery: found, segment } = await openSegment(target, active === undefined);
  try {
    if (!lookUp) await recallSealed(store, sealed, eventIds - segment.scan.rows, events);
  } catch (error) {
    await segment.file.close();
    throw error;
  }
  last.giveTo(events);
  const isClean = found === undefined && missing.length === 0;
  const recovery = { recoveredRows: 0, damage: [], ...found, missingSegments: missing };
  return { store, events, sealed, active: segment, recovery: isClean ? undefined : recovery };
}

interface RecoverOptions {
  readonly files: FileLayer;
  readonly paths: LogPaths;
  readonly number: number;
  /** The last commit of the previous segment. `undefined` for the first segment. */
  readonly before: Commit | undefined;
  readonly durable: boolean;
  readonly onLine: (line: LogLine) => void;
}

interface RecoveredSegment {
  readonly segment: OpenSegment;
  /** `undefined` after a clean end. */
  readonly recovery: Omit<Recovery, "missingSegments"> | undefined;
}

/**
 * Opens the last segment, or makes a new one: the first, or the next if the last one must not be written to.
 *
 * @throws Error if the last segment has another version of the format, or is gone.
 */
async function openSegment(options: RecoverOptions, isNew: boolean): Promise<RecoveredSegment> {
  const path = segmentPath(options);
  const file = await options.files.open(path, isNew ? "create" : "update");
  if (file === undefined) throw new Error(`${path}: no such segment any more`);
  return orClosed(file, isNew ? startSegment(file, options) : recover(file, options));
}

/** Moves a torn end aside, and covers complete rows without a commit with a new commit. Works after any crash. */
async function recover(file: LogFile, options: RecoverOptions): Promise<RecoveredSegment> {
  const { before, durable, number, onLine } = options;
  const size = await file.size();
  await checkVersion(file, segmentPath(options));
  const scan = await scanSegment(file, { until: size, before, onLine });
  const torn = size > scan.validUntil ? await cutOff(file, scan.validUntil, size, options) : {};
  if (scan.validUntil === 0) {
    const fresh = await startSegment(file, options);
    return {
      ...fresh,
      // This header replaces one that a crash kept from the disk. It does not count as the open mark of this opening.
      segment: { ...fresh.segment, isNew: false },
      recovery: { file: segmentName(number), ...torn, recoveredRows: 0, damage: [] },
    };
  }
  const recoveredRows = scan.chain.rows;
  let end = scan.validUntil;
  if (recoveredRows > 0) {
    const made = scan.chain.next();
    const line = Buffer.from(`${commitText(made, recoveredRows, true)}\n`);
    end = await writeFully(file, line, end);
    scan.chain.continueFrom(made);
  }
  // Rows of the dead process may still be only in the operating system. From now on they count as stored.
  if (durable) await syncFile(file, options.files, options.paths.root);
  const clean = size === scan.validUntil && recoveredRows === 0 && scan.damage.length === 0;
  const recovery = { file: segmentName(number), ...torn, recoveredRows, damage: scan.damage };
  return {
    segment: { number, file, size: end, scan, isNew: false },
    recovery: clean ? undefined : recovery,
  };
}

async function startSegment(file: LogFile, options: RecoverOptions): Promise<RecoveredSegment> {
  const { durable, number } = options;
  const header = headerText(number, options.before ?? NO_COMMIT);
  const size = await writeFully(file, Buffer.from(`${header}\n`), 0);
  if (durable) await syncFile(file, options.files, options.paths.root);
  const scan = await scanSegment(file, { until: size });
  return { segment: { number, file, size, scan, isNew: true }, recovery: undefined };
}

/** Copies the bytes behind the last valid line to a file of their own, then cuts them off. */
async function cutOff(
  file: LogFile,
  from: number,
  to: number,
  { files, number, paths }: RecoverOptions,
): Promise<Pick<Recovery, "torn">> {
  const stem = `${segmentName(number)}-${from}`;
  const copy = await setAside(file, from, to, { files, directory: paths.torn, stem });
  await file.truncate(from);
  return { torn: { copy, offset: from, bytes: to - from } };
}

async function checkVersion(file: LogFile, path: string): Promise<void> {
  const start = Buffer.alloc(256);
  const count = await file.read(start, 0);
  const match = /^\{"segment":\d+,"version":(\d+)[,}]/.exec(start.toString("utf8", 0, count));
  const version = match === null ? LOG_VERSION : Number(match[1]);
  if (version !== LOG_VERSION) throw new Error(`${path}: ${otherVersion(version)}`);
}

function segmentPath({ number, paths }: RecoverOptions): string {
  return join(paths.root, segmentName(number));
}
