import type { JournalTorn } from "../../service/door.ts";
import { messageOf } from "../cli-error.ts";
import type { Output } from "../terminal/output.ts";
import { counted } from "../terminal/table.ts";
import { safe } from "../terminal/text.ts";

/** What a service says of its troubles, a line each with its time: the same one at one place rarely. */
export class Reports {
  readonly #output: Output;
  readonly #tellRarely = toldRarely((line) => this.say(line));

  constructor(output: Output) {
    this.#output = output;
  }

  /** Says it, always. */
  say(text: string): void {
    this.#output.line(`${new Date().toISOString()} ${safe(text)}`);
  }

  /** For hooks: bound to this. */
  readonly error = (error: unknown, where: string): void => {
    const line = `${where}: ${messageOf(error)}`;
    this.#tellRarely(line, line);
  };
}

/** What is told again and again is told once in so many ms, with a count. */
const QUIET_MS = 30_000;
/** A count that nobody asked for is kept so long, in ms. */
const COUNTED_MS = 600_000;
/** Places that are remembered; where more have something to tell at a time, those are one. */
const PLACES = 200;

interface Place {
  toldMs: number;
  kept: number;
}

/**
 * Tells troubles so that a log stays readable: the first of a kind at once, those that follow as a count
 * with the next one that is told.
 *
 * @param tell for one line.
 * @param nowMs any steady clock, in ms.
 */
export function toldRarely(
  tell: (line: string) => void,
  nowMs: () => number = () => performance.now(),
): (kind: string, line: string) => void {
  const places = new Map<string, Place>();
  return (kind, line) => {
    const now = nowMs();
    if (places.size >= PLACES && !places.has(kind)) forgetOld(places, now);
    const name = places.has(kind) || places.size < PLACES ? kind : "";
    const place = places.get(name);
    if (place !== undefined && now - place.toldMs < QUIET_MS) {
      place.kept++;
      return;
    }
    const kept = place?.kept ?? 0;
    places.set(name, { toldMs: now, kept: 0 });
    tell(kept === 0 ? line : `${line} (and ${kept} like it before)`);
  };
}

/** Those that would be told at once if they came again; a count that was kept is forgotten later. */
function forgetOld(places: Map<string, Place>, now: number): void {
  for (const [kind, { kept, toldMs }] of places) {
    if (now - toldMs >= (kept === 0 ? QUIET_MS : COUNTED_MS)) places.delete(kind);
  }
}

/** Places of a file that are told one by one. */
const MOST = 20;

/** What a service says of damaged places in its journal that it has set aside. */
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
