import type { FileLayer } from "../../storage/file-layer.ts";
import { nodeFileLayer } from "../../storage/node-file-layer.ts";
import { logPaths, segmentName } from "../ndjson/log-directory.ts";
import { SegmentStore } from "../ndjson/segment-store.ts";
import { LogVerifier } from "./log-verifier.ts";
import { missingSegments, NO_LOG, segmentFiles } from "./segment-files.ts";
import { type SpanAnchor, SpanAnchors } from "./span-anchors.ts";
import type { LogProblem, VerifyReport } from "./verify-report.ts";

/** What a log in a directory is checked against, and what is told of it. */
export interface VerifyOptions {
  /** Rows that must be there: what run spans say of their last row. Kept in memory. Default: none. */
  readonly against?: Iterable<SpanAnchor> | AsyncIterable<SpanAnchor> | undefined;
  /** Problems listed in the report; all are counted. Default 1,000. */
  readonly maxProblems?: number | undefined;
  /** Told of every problem as it is found. Default: none is told. */
  readonly onProblem?: ((problem: LogProblem) => void) | undefined;
  /** Default: the disk. */
  readonly files?: FileLayer | undefined;
}

/**
 * Reads a log from end to end, the archived segments too, and finds what was edited, moved, deleted,
 * inserted, doubled or cut. Anybody can do the same: every hash is over fields of the rows.
 *
 * It only reads, takes no lock, and may run beside the writer: what stands behind the last commit is
 * then counted and is no problem. Memory grows with the number of threads.
 *
 * A hash without a key stops nobody who can write all of the files: whoever rewrites a log from some
 * row to its end leaves it consistent. `against` finds that too, as long as the spans are elsewhere.
 *
 * @throws (rejects) with the system's error when a file cannot be read.
 *
 * @example
 * const report = await verifyLog("./audit");
 * for (const { file, line, problem } of report.problems) console.error(`${file}:${line}: ${problem}`);
 */
export async function verifyLog(
  directory: string,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  const { against = [], files = nodeFileLayer, maxProblems = 1000, onProblem = () => {} } = options;
  const paths = logPaths(directory);
  const verifier = new LogVerifier(await SpanAnchors.from(against), maxProblems, onProblem);
  const store = new SegmentStore(files, paths);
  const { last, present, twice } = await segmentFiles(files, paths);
  for (const number of twice) {
    const place = { file: segmentName(number), line: 0 };
    verifier.report(place, "the segment is there twice, in its place and in the archive");
  }
  let next = 1;
  for (const number of present) {
    const found = await store.open(number);
    if (found === undefined) continue;
    try {
      if (next < number) reportMissing(verifier, next, number - 1);
      next = number + 1;
      await verifier.segment(number, found, number === last);
    } finally {
      await found.file.close();
    }
  }
  if (next <= last) reportMissing(verifier, next, last);
  if (last === 0) verifier.report({ file: directory, line: 0 }, NO_LOG);
  return verifier.result(await files.list(paths.torn));
}

function reportMissing(verifier: LogVerifier, from: number, to: number): void {
  const { file, line, problem } = missingSegments(from, to);
  verifier.report({ file, line }, problem);
}
