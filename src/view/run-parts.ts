import type { RunDetail, ViewRow, ViewRun, ViewSpan } from "./format.ts";

// How the server of `view` sends a run to its page: the head at once, then spans and rows in parts. Each is one line
// of JSON. The page is of the same version, so this form is not documented.

/** The facts of a run that are known before its spans are read. */
export interface RunHead extends Omit<RunDetail, "spans" | "rows"> {
  /** Spans that follow, about. */
  readonly span_count: number;
  /** Nothing of the run has changed since the revision that the page has: no parts follow. */
  readonly unchanged?: true;
}

/** A part of a run. The last one is `end`: without it, the answer was cut. */
export interface RunPart {
  /** Share of the spans that was made, 0 to 1: those of a recording are made when a run is opened. */
  readonly made?: number;
  readonly spans?: readonly ViewSpan[];
  readonly rows?: readonly ViewRow[];
  readonly end?: true;
  /** Why the rest could not be read. */
  readonly error?: string;
}

/** Puts the parts of a run together. */
export class RunReader {
  readonly #spans: ViewSpan[] = [];
  readonly #rows: ViewRow[] = [];
  #isWhole = false;

  /** Number of spans so far. */
  get spans(): number {
    return this.#spans.length;
  }

  /** @throws Error if the server could not read the rest. */
  add({ end, error, rows = [], spans = [] }: RunPart): void {
    if (error !== undefined) throw new Error(error);
    for (const span of spans) this.#spans.push(span);
    for (const row of rows) this.#rows.push(row);
    this.#isWhole ||= end === true;
  }

  /** @throws Error if the last part is missing. */
  whole({ span_count: _, unchanged: __, ...head }: RunHead): RunDetail {
    if (!this.#isWhole) throw new Error("The server's answer ended early.");
    const run = withRowCount(head.run, this.#rows);
    return { ...head, run, spans: this.#spans, rows: this.#rows };
  }
}

/** The run with the number of its rows, if they were made when it was opened: the list does not know it. */
export function withRowCount(run: ViewRun, rows: readonly ViewRow[]): ViewRun {
  if (run.rows > 0 || rows.length === 0) return run;
  const isOwn = ({ run_id, tenant_id }: ViewRow) =>
    tenant_id === run.tenant_id && run_id?.toLowerCase() === run.run_id.toLowerCase();
  return { ...run, rows: rows.filter(isOwn).length };
}

/** UTF-16 units of a line, about. */
const LINE = 128 * 1024;

/** Spans or rows as lines of parts. */
export function* partLines(
  name: "rows" | "spans",
  entries: Iterable<ViewSpan | ViewRow>,
): Generator<string, void, undefined> {
  let text = "";
  for (const entry of entries) {
    text += `${text === "" ? "" : ","}${JSON.stringify(entry)}`;
    if (text.length < LINE) continue;
    yield `{"${name}":[${text}]}\n`;
    text = "";
  }
  if (text !== "") yield `{"${name}":[${text}]}\n`;
}
