import type { FileLayer } from "../../storage/file-layer.ts";
import { refuseForeignLog } from "../../storage/foreign-log.ts";
import { LatelySeen, recallSealed } from "./lately-seen.ts";
import { indexesIn, type LogPaths, segmentsIn } from "./log-directory.ts";
import {
  createSegment,
  type RecoveredSegment,
  type Recovery,
  recoverSegment,
} from "./recover-segment.ts";
import type { SealedSegment } from "./sealed-segment.ts";
import type { SeenEvents } from "./seen-events.ts";
import type { SegmentStore } from "./segment-store.ts";

export interface OpenLogOptions {
  readonly files: FileLayer;
  readonly paths: LogPaths;
  readonly store: SegmentStore;
  readonly durable: boolean;
  /** Filled with the events of the last `eventIds` rows. */
  readonly seen: SeenEvents;
  readonly eventIds: number;
  /** Events of sealed segments are looked up: it is filled with those of the last segment. */
  readonly lookUp: boolean;
}

export interface OpenedLog {
  /** Ascending. */
  readonly sealed: readonly SealedSegment[];
  readonly active: RecoveredSegment;
  /** Nothing when the log was as a clean end leaves it. */
  readonly recovery: Recovery | undefined;
}

/** Missing segments listed at most: a foreign file may have any number. */
const MAX_MISSING = 100;

/** Reads what is there and makes it ready to be written to. The caller holds the directory's lock. */
export async function openLog(options: OpenLogOptions): Promise<OpenedLog> {
  const { durable, eventIds, files, lookUp, paths, seen, store } = options;
  const names = await files.list(paths.root);
  refuseForeignLog(paths.root, "an audit log", names);
  const present = segmentsIn(names);
  const archived = segmentsIn(await files.list(paths.archive));
  const known = [...new Set([...present, ...archived, ...indexesIn(names)])].sort((a, b) => a - b);
  const highest = known.at(-1) ?? 0;
  // Only the last segment is gone on with, and only where it lies in its place.
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
  const lately = new LatelySeen(lookUp ? Number.POSITIVE_INFINITY : eventIds);
  const target = {
    files,
    paths,
    durable,
    number: active ?? highest + 1,
    before: sealed.at(-1)?.last,
    onLine: lately.take.bind(lately),
  };
  const opened = await (active === undefined ? createSegment(target) : recoverSegment(target));
  try {
    if (!lookUp) await recallSealed(store, sealed, eventIds - opened.scan.rows, seen);
  } catch (error) {
    await opened.segment.file.close();
    throw error;
  }
  lately.giveTo(seen);
  const found = opened.recovery;
  if (found === undefined && missing.length === 0) {
    return { sealed, active: opened, recovery: undefined };
  }
  const recovery = { recoveredRows: 0, damage: [], ...found, missingSegments: missing };
  return { sealed, active: opened, recovery };
}
