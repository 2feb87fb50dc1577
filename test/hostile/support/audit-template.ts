import { cp, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { NdjsonSessionLog } from "../../../src/entries/audit.ts";
import { entry } from "../../audit/support/entries.ts";
import type { Random } from "../../support/random.ts";
import { seededUuid } from "./seeded-ids.ts";

/** An audit log on the disk, in a state that a program may have left it in. */
export interface AuditTemplate {
  readonly folder: string;
  /** Paths of the segments below the folder, the archived ones first, ascending. */
  readonly segments: readonly string[];
  /** Sizes at which the newest segment was closed, the last one included where the log is closed. */
  readonly closes: readonly number[];
}

const SEGMENT_BYTES = 4_096;
/** Rows up to this one are archived: those of the first segment, at least. */
const ARCHIVED = 4;
const THREADS = ["t1", "t2", "t3"];
/** Rows of each time that the log is open: the last segment has been closed before its last end. */
const ROWS = [15, 2, 2];

/** Writes the same log twice: closed, and as a `kill -9` leaves it before its last close. */
export async function auditTemplates(random: Random, root: string) {
  const folder = join(root, "closed");
  const copy = join(root, "killed");
  const closes: { readonly newest: string; readonly size: number }[] = [];
  for (const [life, rows] of ROWS.entries()) {
    const log = await NdjsonSessionLog.open(folder, { segmentBytes: SEGMENT_BYTES });
    try {
      for (let n = 0; n < rows; n += 1) await append(log, random, `${life}-${n}`);
      if (life === 0) {
        for (const thread_id of THREADS) {
          await log.archiveBefore({ tenant_id: "acme", thread_id }, ARCHIVED);
        }
      }
      if (life === ROWS.length - 1) await copyOf(folder, copy);
    } finally {
      await log.close();
    }
    const newest = (await segmentsOf(folder)).at(-1) ?? "";
    closes.push({ newest, size: (await stat(join(folder, newest))).size });
  }
  const describe = async (place: string, closed: boolean): Promise<AuditTemplate> => {
    const segments = await segmentsOf(place);
    const own = closes.filter(({ newest }) => newest === segments.at(-1)).map(({ size }) => size);
    return { folder: place, segments, closes: closed ? own : own.slice(0, -1) };
  };
  return { closed: await describe(folder, true), killed: await describe(copy, false) };
}

async function append(log: NdjsonSessionLog, random: Random, text: string): Promise<void> {
  const thread_id = random.of(THREADS);
  const ids = { event_id: seededUuid(random), run_id: seededUuid(random) };
  await log.append({ tenant_id: "acme", thread_id }, [entry(text, ids)]);
}

/** The files of a log as they stand, without what only a living writer has. */
export async function copyOf(folder: string, copy: string): Promise<void> {
  await mkdir(copy, { recursive: true });
  await cp(folder, copy, {
    recursive: true,
    filter: (path) => !/\/(?:sock-\w+|lock-\d+)$/.test(path),
  });
}

async function segmentsOf(folder: string): Promise<string[]> {
  const among = async (below: string) => {
    const names = await readdir(join(folder, below)).catch(() => []);
    return names.filter((name) => /^segment-\d{8}\.ndjson$/.test(name)).sort();
  };
  const archived = (await among("archive")).map((name) => join("archive", name));
  return [...archived, ...(await among(""))];
}
