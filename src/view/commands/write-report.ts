import type { OutputWriter } from "../../cli/door.ts";
import type { PageFiles } from "../page-html.ts";
import { ChromeTrace } from "../report/chrome-trace.ts";
import { jsonInHtml, ReportHtml } from "../report/report-html.ts";
import type { ViewedRuns } from "../runs/viewed-runs.ts";

/** Limits of a report without `--run`, so that it fits into a mail and a browser. */
export const MOST_RUNS = 1_000;
export const MOST_BYTES = 50_000_000;

interface ReportOutputs {
  readonly html: OutputWriter | undefined;
  readonly trace: OutputWriter | undefined;
}

export interface ReportRuns {
  readonly keys: readonly string[];
  /** Whether the limits apply. They do not with `--run`. */
  readonly limited: boolean;
  readonly signal: AbortSignal;
}

export interface ReportCounts {
  /** Written runs of those that were asked for. */
  readonly runs: number;
  /** Further runs, which continue one of them, or which one of them continues. */
  readonly others: number;
  readonly leftOut: number;
}

/**
 * Writes runs as a page, as a trace, or as both. With a run that paused come those that continue it, and the other way
 * round: they say who asked and who decided. Memory holds one run at a time.
 *
 * @returns `undefined` if the signal ended it. The caller then discards the outputs.
 */
export async function writeReport(
  runs: ViewedRuns,
  { keys, limited, signal }: ReportRuns,
  page: PageFiles,
  { html, trace }: ReportOutputs,
): Promise<ReportCounts | undefined> {
  const file = new ReportHtml(page);
  const start = file.start();
  const all = runs.withStories(limited ? keys.slice(0, MOST_RUNS) : keys);
  const events = new ChromeTrace(firstStart(runs, all));
  await html?.write(start);
  await trace?.write(events.start());
  const written = new Set<string>();
  let left = limited ? MOST_BYTES - 2 * start.length : Number.POSITIVE_INFINITY;
  for (const key of all) {
    if (signal.aborted) return undefined;
    const detail = await runs.detail(key);
    const pieces = detail && piecesWithin(file.run(detail, written.size === 0), left);
    if (detail === undefined || pieces === undefined) continue;
    // Its row is in the list, too.
    left -= pieces.bytes + Buffer.byteLength(jsonInHtml(JSON.stringify(detail.run))) + 1;
    written.add(key);
    for (const piece of pieces.texts) await html?.write(piece);
    if (trace !== undefined) {
      for (const piece of events.run(detail)) await trace.write(piece);
    }
  }
  const asked = keys.filter((key) => written.has(key)).length;
  const leftOut = keys.length - asked;
  for (const piece of file.end(runs.list([...written]), leftOut)) await html?.write(piece);
  await trace?.write(events.end());
  await html?.close();
  await trace?.close();
  return { runs: asked, others: written.size - asked, leftOut };
}

interface Pieces {
  readonly texts: readonly string[];
  readonly bytes: number;
}

/** All pieces as one text; `undefined` if they exceed the number of bytes. */
function piecesWithin(pieces: Iterable<string>, most: number): Pieces | undefined {
  const texts: string[] = [];
  let bytes = 0;
  for (const text of pieces) {
    bytes += Buffer.byteLength(text);
    if (bytes > most) return undefined;
    texts.push(text);
  }
  return { texts, bytes };
}

function firstStart(runs: ViewedRuns, keys: readonly string[]): string {
  let first: bigint | undefined;
  for (const { start_ns } of runs.list(keys).runs) {
    const start = BigInt(start_ns);
    if (first === undefined || start < first) first = start;
  }
  return String(first ?? 0n);
}
