import type { RelatedRun, ReportDocument, RunDetail, RunList } from "../format.ts";
import { filterRows } from "../model/filter-rows.ts";
import { listQuery } from "../model/list-query.ts";
import { RunIndex } from "../model/run-index.ts";
import { SESSION_META } from "../page-html.ts";
import { type RunHead, type RunPart, RunReader, withRowCount } from "../run-parts.ts";
import { linesOf } from "./lines.ts";

/** Source of the page's runs: the server of `view`, or the file of a report. */
export interface RunData {
  /** Whether it is a report: it never changes, and the page makes no requests. */
  readonly isReport: boolean;
  /** Key of the only run of a report, which the page opens at once. */
  readonly onlyRun?: string | undefined;
  /** Failed runs that were left out of a report. */
  readonly leftOut?: number;
  /** Whether a report has the content of its runs; `undefined` if it is not a report. */
  readonly content?: boolean;
  /** All runs, or those that changed since a revision. */
  list(since?: number): Promise<RunList>;
  /**
   * Reads a run.
   *
   * @param last what the page has of it. It is returned if nothing has changed.
   * @throws Error with the server's message.
   */
  run(key: string, progress: RunProgress, last?: RunDetail): Promise<RunDetail>;
}

/** Called while a run is read: it can be long. */
export interface RunProgress {
  /** The head is known, before the spans. */
  readonly onHead: (head: RunHead) => void;
  readonly onSpans: (count: number) => void;
}

/** The document of a report, in the page itself. */
const REPORT_ELEMENT = "report";

export function runData(): RunData {
  const element = document.getElementById(REPORT_ELEMENT);
  return element === null ? new ServedRuns() : new ReportedRuns(element.textContent ?? "");
}

class ServedRuns implements RunData {
  readonly isReport = false;

  constructor() {
    takeSession();
  }

  list(since?: number): Promise<RunList> {
    return ask(since === undefined ? "/runs" : `/runs?since=${since}`);
  }

  async run(key: string, progress: RunProgress, last?: RunDetail): Promise<RunDetail> {
    const since = last === undefined ? "" : `&since=${last.revision}`;
    const response = await answerTo(`/run/parts?key=${encodeURIComponent(key)}${since}`);
    const reader = new RunReader();
    let head: RunHead | undefined;
    let made = 0;
    for await (const line of linesOf(response)) {
      if (head === undefined) {
        const first: RunHead = JSON.parse(line);
        head = first;
        if (last !== undefined && head.unchanged) return sameRun(last, head);
        progress.onHead(head);
        continue;
      }
      const part: RunPart = JSON.parse(line);
      reader.add(part);
      made = Math.max(made, Math.round((part.made ?? 0) * head.span_count));
      progress.onSpans(Math.max(made, reader.spans));
    }
    if (head === undefined) throw new Error("The server's answer is empty.");
    return reader.whole(head);
  }
}

class ReportedRuns implements RunData {
  readonly isReport = true;
  readonly #document: ReportDocument;

  constructor(text: string) {
    this.#document = JSON.parse(text);
  }

  get onlyRun(): string | undefined {
    const { details, list } = this.#document;
    const index = new RunIndex();
    index.merge(list.runs);
    const [row, ...others] = filterRows(index.rows, listQuery(new URLSearchParams()));
    if (row === undefined || others.length > 0) return undefined;
    const keys = new Set([row, ...(row.folded?.rows ?? [])].map(({ run }) => run.key));
    // The run that was asked for was written before those that it continues.
    return Object.keys(details).find((key) => keys.has(key));
  }

  get leftOut(): number {
    return this.#document.left_out;
  }

  get content(): boolean {
    return Object.values(this.#document.details).some(({ content }) => content);
  }

  async list(): Promise<RunList> {
    return this.#document.list;
  }

  async run(key: string): Promise<RunDetail> {
    const { details } = this.#document;
    const detail = Object.hasOwn(details, key) ? details[key] : undefined;
    if (detail === undefined) throw new Error("The report does not have this run.");
    const related = detail.related.map((run) => this.#withoutDeadEnd(run));
    return { ...detail, related };
  }

  /** A related run that is not in the report has no key, so that no link leads to it. */
  #withoutDeadEnd({ key, ...run }: RelatedRun): RelatedRun {
    const isHere = key !== undefined && Object.hasOwn(this.#document.details, key);
    return isHere ? { ...run, key } : run;
  }
}

/** What the page has, with a new head if that is another one, such as a new verdict. */
function sameRun(last: RunDetail, { span_count: _, unchanged: __, ...known }: RunHead): RunDetail {
  const { rows, spans, ...before } = last;
  const { revision } = known;
  const head = { ...known, run: withRowCount(known.run, rows) };
  const isSame = JSON.stringify(head) === JSON.stringify({ ...before, revision });
  return isSame ? last : { ...head, spans, rows };
}

/** The server has the same version of this package, so its answers are not checked. */
async function ask<T>(path: string): Promise<T> {
  return (await answerTo(path)).json();
}

async function answerTo(path: string): Promise<Response> {
  const response = await fetch(path, {
    headers: { accept: "application/json", ...sessionHeaders() },
  }).catch(() => {
    throw new Error(
      "The server can't be reached. Check that `entelix-otel view` is still running.",
    );
  });
  if (response.ok) return response;
  const message = await response.text();
  throw new Error(message === "" ? `The server answered ${response.status}.` : message);
}

/** Storage of this origin, so of this port only. */
const KEY = SESSION_META;

/** The session if the browser forbids storage. It is lost when the page is loaded again. */
let unstored: string | undefined;

/** Stores the session of the page, and removes the token from the address, so that it is not copied. */
function takeSession(): void {
  const element = document.querySelector<HTMLMetaElement>(`meta[name="${SESSION_META}"]`);
  if (element !== null) keep(element.content);
  element?.remove();
  if (location.search !== "") history.replaceState(null, "", location.pathname + location.hash);
}

/**
 * Headers of a request with the session. Reads it from storage each time: another tab may have a newer one, after a
 * restart of the command.
 */
function sessionHeaders(): Readonly<Record<string, string>> {
  const session = stored() ?? unstored;
  return session === undefined ? {} : { authorization: `Bearer ${session}` };
}

function keep(session: string): void {
  unstored = session;
  try {
    localStorage.setItem(KEY, session);
  } catch {
    // The session lasts until the page is loaded again.
  }
}

function stored(): string | undefined {
  try {
    return localStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}
