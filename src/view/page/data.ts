import type { ReportDocument, RunDetail, RunList } from "../format.ts";
import { isSubRun, runIdsOf } from "../model/filter-rows.ts";
import { SESSION_META } from "../page-html.ts";

/** Where the page has its runs from: the server of `view`, or the file of a report. */
export interface RunData {
  /** A report: nothing changes, and nothing is asked for. */
  readonly isReport: boolean;
  /** Key of the only run of a report, which the page opens at once. */
  readonly onlyRun?: string | undefined;
  /** Failed runs that a report does not have. */
  readonly leftOut?: number;
  /** Of a report: whether it has the content of its runs. */
  readonly content?: boolean;
  /** All runs, or those that changed since a revision. */
  list(since?: number): Promise<RunList>;
  /** @throws Error with what the server said. */
  run(key: string): Promise<RunDetail>;
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

  run(key: string): Promise<RunDetail> {
    return ask(`/run?key=${encodeURIComponent(key)}`);
  }
}

class ReportedRuns implements RunData {
  readonly isReport = true;
  readonly #document: ReportDocument;

  constructor(text: string) {
    this.#document = JSON.parse(text);
  }

  get onlyRun(): string | undefined {
    const { runs } = this.#document.list;
    const listed = runIdsOf(runs);
    const [first, ...others] = runs.filter((run) => !isSubRun(run, listed));
    return others.length === 0 ? first?.key : undefined;
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
    return detail;
  }
}

/** The server is this package's own, of the same version: what it answers is taken at its word. */
async function ask<T>(path: string): Promise<T> {
  const response = await fetch(path, {
    headers: { accept: "application/json", ...sessionHeaders() },
  }).catch(() => {
    throw new Error(
      "The server can't be reached. Check that `entelix-otel view` is still running.",
    );
  });
  if (response.ok) return response.json();
  const said = await response.text();
  throw new Error(said === "" ? `The server answered ${response.status}.` : said);
}

/** Of this origin, and so of this port alone. */
const KEY = SESSION_META;

/** Of a browser whose user forbids storage: it lasts until the page is loaded again. */
let unstored: string | undefined;

/** Keeps the session that came with the page, and takes the token out of the address, and so out of what is copied. */
function takeSession(): void {
  const element = document.querySelector<HTMLMetaElement>(`meta[name="${SESSION_META}"]`);
  if (element !== null) keep(element.content);
  element?.remove();
  if (location.search !== "") history.replaceState(null, "", location.pathname + location.hash);
}

/** Headers of a request with the session. Another tab may have got it meanwhile, of a command that was started again. */
function sessionHeaders(): Readonly<Record<string, string>> {
  const session = stored() ?? unstored;
  return session === undefined ? {} : { authorization: `Bearer ${session}` };
}

function keep(session: string): void {
  unstored = session;
  try {
    localStorage.setItem(KEY, session);
  } catch {
    // Until the page is loaded again.
  }
}

function stored(): string | undefined {
  try {
    return localStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}
