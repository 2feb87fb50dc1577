import { shownUrl } from "../../bridge/door.ts";
import {
  CliError,
  type Fields,
  httpUrl,
  isFields,
  listed,
  messageOf,
  rawSpansOf,
  safe,
} from "../../cli/door.ts";
import { ATTRIBUTES, formatRfc3339, fromMilliseconds, trimmedEnd } from "../../events/door.ts";
import type { ViewAttributes, ViewSpan, ViewValue } from "../format.ts";
import { type RunStore, STANDING } from "../runs/run-store.ts";
import { waitFor } from "./followed-file.ts";
import type { SourceState } from "./source-state.ts";
import { viewSpanIn } from "./view-span.ts";
import { shownSpan } from "./without-content.ts";

/** How often it is searched again, in ms. */
const SEARCH_MS = 10_000;
/** Age of the oldest traces that are searched, in ms: a year. The newest come first. */
const LOOK_BACK_MS = 365 * 24 * 3_600_000;
/** Overlap with the last search, in ms: spans arrive late. */
const OVERLAP_MS = 10 * 60_000;
/** Most traces of one search. */
export const MOST_TRACES = 1_500;
/** Most searches: one for each service and name of runs. */
export const MOST_SEARCHES = 200;
/** Most bytes of an answer. */
const MOST_BYTES = 256 * 1024 * 1024;
const WITHIN_MS = 30_000;

const RUN = /^(?:invoke_(?:agent|workflow)(?: .*)?|entelix\.run\.open)$/s;

interface JaegerOptions {
  readonly follow: boolean;
  readonly content: boolean;
  readonly signal: AbortSignal;
  /** For tests. Default 10,000. */
  readonly searchMs?: number | undefined;
}

/** The traces of runs in Jaeger, by its query API. It is searched periodically. */
export class JaegerSource {
  readonly state: SourceState;
  readonly #url: string;
  readonly #store: RunStore;
  readonly #options: JaegerOptions;
  readonly #source: number;
  /** Number of spans of the traces that were seen last. */
  readonly #traces = new Map<string, number>();
  #searchedAt: number | undefined;
  /** Why the last search failed. */
  #failure: string | undefined;
  #following: Promise<void> | undefined;

  /** @param url from {@link jaegerUrl}. */
  constructor(url: string, state: SourceState, store: RunStore, options: JaegerOptions) {
    this.state = state;
    this.#url = url;
    this.#store = store;
    this.#options = options;
    this.#source = store.addSource(STANDING.spans);
  }

  /** Resolves when it was searched once. */
  async read(): Promise<void> {
    await this.#search();
    this.state.reached();
    if (this.#options.follow) this.#following = this.#follow();
  }

  /** Call it after the signal was aborted. */
  async close(): Promise<void> {
    await this.#following;
  }

  async #follow(): Promise<void> {
    const { searchMs = SEARCH_MS, signal } = this.#options;
    while (!signal.aborted) {
      await waitFor(searchMs, signal);
      if (!signal.aborted) await this.#search();
    }
  }

  /** Searches once. A failure is listed as a problem until a search succeeds. */
  async #search(): Promise<void> {
    let failure: string | undefined;
    try {
      await this.#searchAll();
    } catch (error) {
      if (this.#options.signal.aborted) return;
      failure = messageOf(error);
    }
    const { name } = this.state;
    if (this.#failure !== undefined && this.#failure !== failure) {
      this.state.solved(name, this.#failure);
    }
    this.#failure = failure;
    if (failure !== undefined) this.#report(failure);
  }

  async #searchAll(): Promise<void> {
    const now = Date.now();
    const from =
      this.#searchedAt === undefined ? now - LOOK_BACK_MS : this.#searchedAt - OVERLAP_MS;
    let searches = 0;
    for (const service of texts(await this.#ask("/api/v3/services", {}), "services")) {
      for (const operation of await this.#runsOf(service)) {
        searches += 1;
        if (searches > MOST_SEARCHES)
          return this.#report(`more than ${MOST_SEARCHES} names of runs: the rest is left out`);
        await this.#find(service, operation, from, now);
      }
    }
    this.#searchedAt = now;
  }

  /** Names of spans of runs, and of markers of open runs. */
  async #runsOf(service: string): Promise<string[]> {
    const answer = await this.#ask("/api/v3/operations", { service });
    const names = listed(answer, "operations").map(({ name }) => name);
    const runs = names.filter((name) => typeof name === "string" && RUN.test(name));
    return [...new Set(runs.map(String))];
  }

  async #find(service: string, operation: string, from: number, to: number): Promise<void> {
    const answer = await this.#ask("/api/v3/traces", {
      "query.service_name": service,
      "query.operation_name": operation,
      "query.start_time_min": formatRfc3339(fromMilliseconds(from)),
      // Clocks of senders may be ahead.
      "query.start_time_max": formatRfc3339(fromMilliseconds(to + OVERLAP_MS)),
      "query.num_traces": String(MOST_TRACES),
      "query.search_depth": String(MOST_TRACES),
    });
    const traces = new Map<string, ViewSpan[]>();
    for (const request of requestsIn(answer)) {
      for (const raw of rawSpansOf(request)) {
        const span = viewSpanIn(raw, (problem) => this.#report(problem));
        if (span === undefined) continue;
        const known = traces.get(span.trace_id) ?? [];
        known.push(asSent(span));
        traces.set(span.trace_id, known);
      }
    }
    if (traces.size >= MOST_TRACES) {
      this.#report(`${operation}: more than ${MOST_TRACES} traces: only the newest are here`);
    }
    for (const [traceId, spans] of traces) this.#take(traceId, spans);
  }

  /** Takes the new spans of a trace. */
  #take(traceId: string, spans: readonly ViewSpan[]): void {
    const before = this.#traces.get(traceId);
    this.#traces.delete(traceId);
    this.#traces.set(traceId, spans.length);
    const [oldest] = this.#traces.keys();
    if (this.#traces.size > MOST_KNOWN && oldest !== undefined) this.#traces.delete(oldest);
    if (before === spans.length) return;
    const known = new Set(this.#store.spanIdsOf(traceId, this.#source));
    for (const span of spans) {
      if (known.has(span.span_id)) continue;
      known.add(span.span_id);
      this.#store.add(this.#source, shownSpan(span, this.#options.content));
    }
  }

  async #ask(path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
    return ask(`${this.#url}${path}?${new URLSearchParams(query)}`, this.#options.signal);
  }

  #report(problem: string): void {
    this.state.problem(this.state.name, problem);
  }
}

/** Traces whose number of spans is remembered. */
const MOST_KNOWN = 20_000;

/**
 * The address of Jaeger without a slash at its end.
 *
 * @throws CliError for an invalid URL, a URL with a password, and when no Jaeger answers.
 */
export async function jaegerUrl(text: string, signal: AbortSignal): Promise<string> {
  const url = httpUrl("--jaeger", text);
  if (url.username !== "" || url.password !== "") {
    throw new CliError("--jaeger: expected a URL without a user and a password");
  }
  const address = trimmedEnd(`${url.origin}${url.pathname}`, "/");
  const shown = safe(trimmedEnd(shownUrl(address), "/"));
  try {
    const answer = await ask(`${address}/api/v3/services`, signal);
    // Jaeger leaves out `services` if it has none.
    if (isFields(answer)) return address;
  } catch (error) {
    throw new CliError(`--jaeger: ${shown}: ${safe(messageOf(error))}`, undefined, {
      cause: error,
    });
  }
  throw new CliError(`--jaeger: ${shown}: expected Jaeger's query API, got another answer`);
}

/** Jaeger's answer to a search without results. Its status is 404. */
const NONE_FOUND = "No traces found";

/** @throws Error with Jaeger's answer, or with the reason if there was none. */
async function ask(url: string, signal: AbortSignal): Promise<unknown> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]);
  let response: Response;
  try {
    response = await fetch(url, { signal: within, redirect: "error" });
  } catch (error) {
    const { cause } = error instanceof Error ? error : {};
    throw new Error(`no answer: ${messageOf(cause ?? error)}`, { cause: error });
  }
  const text = await textOf(response);
  if (response.status === 404 && text.includes(NONE_FOUND)) return {};
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${text.slice(0, 300)}`);
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    throw new Error("expected an answer in JSON");
  }
}

async function textOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw new Error(`expected an answer of at most ${MOST_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** An answer holds one request in `result`, or is one itself. */
function requestsIn(answer: unknown): Fields[] {
  if (!isFields(answer)) return [];
  return isFields(answer.result) ? [answer.result] : [answer];
}

function texts(answer: unknown, name: string): string[] {
  const list = isFields(answer) ? answer[name] : undefined;
  return Array.isArray(list) ? list.filter((each) => typeof each === "string") : [];
}

/** Attributes of this package's that are lists. */
const LISTS: readonly string[] = Object.entries(ATTRIBUTES)
  .filter(([, { type }]) => type === "string[]")
  .map(([name]) => name);

/** A span as it was sent: Jaeger stores lists as text in JSON. */
function asSent(span: ViewSpan): ViewSpan {
  const lists = LISTS.flatMap((name) => {
    const list = listIn(span.attributes[name]);
    return list === undefined ? [] : [[name, list] as const];
  });
  if (lists.length === 0) return span;
  const attributes: ViewAttributes = { ...span.attributes, ...Object.fromEntries(lists) };
  return { ...span, attributes };
}

function listIn(value: ViewValue | undefined): readonly string[] | undefined {
  if (typeof value !== "string") return undefined;
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) && list.every((each) => typeof each === "string") ? list : undefined;
  } catch {
    return undefined;
  }
}
