import {
  checkEach,
  checkedElsewhere,
  checkFunction,
  type OptionChecks,
  withoutRejections,
} from "../../events/door.ts";
import { logPaths, SegmentStore, segmentName } from "../ndjson/segment-store.ts";
import type { FileLayer } from "../storage/file-layer.ts";
import { nodeFileLayer } from "../storage/node-file-layer.ts";
import { LogVerifier } from "./log-verifier.ts";
import { missingSegments, NO_LOG, segmentFiles } from "./segment-files.ts";
import { type SpanAnchor, SpanAnchors } from "./span-anchors.ts";
import type { LogEnd, LogProblem, VerifyReport } from "./verify-report.ts";

/** A log that grew at each of these looks has a writer, even if its lock, on another kernel, looks unused. */
const LOOKS = 3;

/** Options of `verifyLog`. */
export interface VerifyOptions {
  /** Rows that must be in the log, from run spans. Kept in memory. Default: none. */
  readonly against?: Iterable<SpanAnchor> | AsyncIterable<SpanAnchor> | undefined;
  /** Problems listed in the report. All are counted. Default 1,000. */
  readonly maxProblems?: number | undefined;
  /** Called with every problem when it is found. Default: no call. */
  readonly onProblem?: ((problem: LogProblem) => void) | undefined;
  /** Default: the disk. */
  readonly files?: FileLayer | undefined;
}

/**
 * Reads a log from start to end, with its archived segments, and finds rows that were edited, moved, deleted,
 * inserted, duplicated or cut. Every hash is over fields of the rows, so other programs can verify a log as well.
 *
 * If rows were cut off the end, the rest is unchanged: see {@link VerifyReport.end}.
 *
 * It only reads, takes no lock, and can run while a process writes. Lines behind the last commit are counted and are
 * not a problem. Memory grows with the number of threads.
 *
 * The hashes have no key, so they do not protect against an attacker who can write all files. A log that was
 * rewritten from some row to its end is consistent. A log that was cut exactly at an earlier close mark looks closed.
 * `against` finds both, if the spans are stored elsewhere.
 *
 * @throws (rejects) with the system's error if a file cannot be read.
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
  const checked = checkEach(options, CHECKS);
  const { against = [], files = nodeFileLayer, maxProblems = 1000 } = checked;
  const onProblem = withoutRejections(checked.onProblem);
  const paths = logPaths(directory);
  const verifier = new LogVerifier(await SpanAnchors.from(against), maxProblems, onProblem);
  const store = new SegmentStore(files, paths);
  let next = 1;
  let last = 0;
  /** Reads the log, or the part added since. @returns whether there were new bytes. */
  const readOn = async (): Promise<boolean> => {
    const found = await segmentFiles(files, paths);
    last = found.last;
    for (const number of found.twice.filter((each) => each >= next)) {
      const position = { file: segmentName(number), line: 0 };
      verifier.report(position, "the segment is there twice, in its place and in the archive");
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
    // Its writer may have closed it since it was read. So read again: a log that has not grown was left unclosed.
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

const CHECKS: OptionChecks<VerifyOptions> = {
  against: checkedElsewhere,
  maxProblems: checkedElsewhere,
  onProblem: checkFunction,
  files: checkedElsewhere,
};
