import type { JournalTorn } from "../../service/door.ts";
import { messageOf } from "../cli-error.ts";
import type { Output } from "../terminal/output.ts";
import { counted } from "../terminal/table.ts";
import { safe } from "../terminal/text.ts";

/** Prints errors of a service, one line each with its time. Repeated errors are summarized. */
export class Reports {
  readonly #output: Output;
  readonly #reportRarely = reportRarely((line) => this.say(line));

  constructor(output: Output) {
    this.#output = output;
  }

  /** Prints a line. */
  say(text: string): void {
    this.#output.line(`${new Date().toISOString()} ${safe(text)}`);
  }

  /** Reports an error. Bound, so that it can be passed as a hook. */
  readonly error = (error: unknown, where: string): void => {
    const line = `${where}: ${messageOf(error)}`;
    this.#reportRarely(line, line);
  };
}

/** Shortest time between two reports of one kind, in ms. */
const QUIET_MS = 30_000;
/** How long the count of unreported errors is kept, in ms. */
const COUNT_MS = 600_000;
/** Most kinds that are counted separately. Further kinds are counted together. */
const MOST_KINDS = 200;

interface ReportedKind {
  reportedMs: number;
  unreported: number;
}

/**
 * Limits repeated errors: the first of a kind is reported at once, later ones at most every 30 s, with the number of
 * errors since the last report.
 *
 * @param report prints a line.
 * @param nowMs monotonic clock, in ms.
 */
export function reportRarely(
  report: (line: string) => void,
  nowMs: () => number = () => performance.now(),
): (kind: string, line: string) => void {
  const kinds = new Map<string, ReportedKind>();
  return (kind, line) => {
    const now = nowMs();
    if (kinds.size >= MOST_KINDS && !kinds.has(kind)) forgetOld(kinds, now);
    const name = kinds.has(kind) || kinds.size < MOST_KINDS ? kind : "";
    const last = kinds.get(name);
    if (last !== undefined && now - last.reportedMs < QUIET_MS) {
      last.unreported++;
      return;
    }
    const unreported = last?.unreported ?? 0;
    kinds.set(name, { reportedMs: now, unreported: 0 });
    report(unreported === 0 ? line : `${line} (and ${unreported} like it before)`);
  };
}

/** Removes kinds that would be reported at once. Those with a count stay longer. */
function forgetOld(kinds: Map<string, ReportedKind>, now: number): void {
  for (const [kind, { reportedMs, unreported }] of kinds) {
    if (now - reportedMs >= (unreported === 0 ? QUIET_MS : COUNT_MS)) kinds.delete(kind);
  }
}

/** Most damaged parts of the journal that are reported one by one. */
const MOST = 20;

/** Reports damaged parts of the journal that were set aside at the start. */
export function tornTexts(torn: readonly JournalTorn[]): readonly string[] {
  const texts = torn.slice(0, MOST).map(tornText);
  const more = torn.slice(MOST);
  const [next] = more;
  if (next !== undefined) {
    const bytes = more.reduce((sum, each) => sum + each.bytes, 0);
    const missing = more.reduce((sum, each) => sum + (each.missing ?? 0), 0);
    texts.push(
      `journal: ${next.file}, line ${next.line} and below: ${counted(more.length, "more place")} like this, ` +
        `${counted(bytes, "byte")}, ${counted(missing, "line")} missing`,
    );
  }
  return [...texts, 'journal: what to do: docs/operations.md, "Lines set aside"'];
}

function tornText({ bytes, copy, file, line, missing, offset }: JournalTorn): string {
  const expected = `the record of offset ${offset} or the end mark`;
  const found = bytes === 0 ? "neither" : `${counted(bytes, "damaged byte")}, copied to ${copy}`;
  const gone =
    missing === undefined
      ? "the number of missing lines is unknown"
      : `${counted(missing, "line")} missing`;
  return `journal: ${file}, line ${line}: expected ${expected}, found ${found}; ${gone}`;
}
