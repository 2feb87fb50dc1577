import { logPaths, SegmentStore, segmentName } from "../ndjson/segment-store.ts";
import type { FileLayer } from "../storage/file-layer.ts";
import { nodeFileLayer } from "../storage/node-file-layer.ts";
import { LogVerifier } from "./log-verifier.ts";
import { missingSegments, NO_LOG, segmentFiles } from "./segment-files.ts";
import { type SpanAnchor, SpanAnchors } from "./span-anchors.ts";
import type { LogEnd, LogProblem, VerifyReport } from "./verify-report.ts";

/** A log that has grown at each of so many looks is written by somebody, though a lock of another kernel looks dead. */
const LOOKS = 3;

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
 * Rows that were cut off its end leave the rest as it was written: look at {@link VerifyReport.end}, too.
 *
 * It only reads, takes no lock, and may run beside the writer: what stands behind the last commit is
 * then counted and is no problem. Memory grows with the number of threads.
 *
 * A hash without a key stops nobody who can write all of the files: whoever rewrites a log from some
 * row to its end leaves it consistent, and one that is cut exactly at an earlier close mark seems to have been
 * closed there. `against` finds that too, as long as the spans are elsewhere.
 *
 * @throws (rejects) with the system's error when a file cannot be read.
 *
 * @example
 * const { end, ok, problems } = await verifyLog("./audit");
 * for (const { file, line, problem } of problems) console.error(`${file}:${line}: ${problem}`);
 * if (ok && end === "closed") console.log("intact");
 */
export async function verifyLog(
  directory: string,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  const { against = [], files = nodeFileLayer, maxProblems = 1000, onProblem = () => {} } = options;
  const paths = logPaths(directory);
  const verifier = new LogVerifier(await SpanAnchors.from(against), maxProblems, onProblem);
  const store = new SegmentStore(files, paths);
  let next = 1;
  let last = 0;
  /** Reads what is there, then what has come since. @returns whether there was more to read. */
  const readOn = async (): Promise<boolean> => {
    const found = await segmentFiles(files, paths);
    last = found.last;
    for (const number of found.twice.filter((each) => each >= next)) {
      const place = { file: segmentName(number), line: 0 };
      verifier.report(place, "the segment is there twice, in its place and in the archive");
    }
    let more = false;
    for (const number of found.present.filter((each) => each >= next - 1)) {
      const hasGrown = await store.read(number, (segment) => {
        if (next < number) reportMissing(verifier, next, number - 1);
        next = number + 1;
        return verifier.segment(number, segment);
      });
      more ||= hasGrown === true;
    }
    return more;
  };
  await readOn();
  let end: LogEnd = verifier.end;
  for (let looks = 0; end === "open" && looks < LOOKS; looks += 1) {
    const holder = await files.lockHolder(paths.root);
    if (holder === "alive") break;
    // Its writer may have closed it since it was read: only one that has not grown was left as it is.
    if (await readOn()) end = verifier.end;
    else end = holder === "none" ? "unclosed" : "unknown";
  }
  if (next <= last) {
    reportMissing(verifier, next, last);
    if (end === "closed") end = "unclosed";
  }
  if (last === 0) verifier.report({ file: directory, line: 0 }, NO_LOG);
  return verifier.result(end, await files.list(paths.torn));
}

function reportMissing(verifier: LogVerifier, from: number, to: number): void {
  verifier.leave();
  const { file, line, problem } = missingSegments(from, to);
  verifier.report({ file, line }, problem);
}
