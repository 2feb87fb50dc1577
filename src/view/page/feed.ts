import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { counted } from "../../events/format/door.ts";
import type { RunList, ViewRun, ViewSource } from "../format.ts";
import { RunIndex, type RunRow } from "../model/run-index.ts";
import { pause } from "./breath.ts";
import type { RunData } from "./data.ts";
import { announce } from "./shell/live-region.tsx";

/** Time between two requests, in ms, and the longest one while the server does not answer. */
const POLL_MS = 1000;
const MOST_POLL_MS = 10_000;

/** At most one message about new runs in this time, in ms. */
const ANNOUNCE_MS = 10_000;

/** Runs that are merged without a pause, so that the page stays responsive. */
const AT_ONCE = 5000;

/** State of the list. */
export interface FeedState {
  /** Whether the first list has come. */
  readonly loaded: boolean;
  /** Each change of a run makes a new array. */
  readonly rows: readonly RunRow[];
  readonly sources: readonly ViewSource[];
  readonly otherSpans: number;
  /** Runs that the list does not have because they are older than {@link FeedState.oldestNs}. */
  readonly olderRuns: number;
  /** Begin of the oldest run of the list, if older ones are left out. */
  readonly oldestNs: string | undefined;
  /** Why the last request failed. Requests go on. */
  readonly error: string | undefined;
}

/** Keeps the list of runs up to date while the page is visible. */
export class Feed {
  readonly isReport: boolean;
  /** Failed runs that were left out of a report. */
  readonly leftOut: number;
  /** Whether a report has the content of its runs; `undefined` if it is not a report. */
  readonly content: boolean | undefined;
  readonly #data: RunData;
  readonly #listeners = new Set<() => void>();
  #index = new RunIndex();
  #revision: number | undefined;
  #state: FeedState = {
    loaded: false,
    rows: [],
    sources: [],
    otherSpans: 0,
    olderRuns: 0,
    oldestNs: undefined,
    error: undefined,
  };
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking = false;
  #waitMs = POLL_MS;
  #unannounced = 0;
  #announcedAt = 0;

  constructor(data: RunData) {
    this.#data = data;
    this.isReport = data.isReport;
    this.leftOut = data.leftOut ?? 0;
    this.content = data.content;
  }

  get state(): FeedState {
    return this.#state;
  }

  /** A run as the list of the server has it, without the sums of the runs that it continues. */
  run(key: string): ViewRun | undefined {
    return this.#index.run(key);
  }

  /** @returns a function that removes the listener. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts the requests, which continue while the page is open. */
  start(): void {
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") void this.#ask();
    });
    void this.#ask();
  }

  /** Sends a request now. */
  retry(): void {
    void this.#ask();
  }

  async #ask(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    clearTimeout(this.#timer);
    try {
      await this.#take(await this.#data.list(this.#revision));
      this.#waitMs = POLL_MS;
    } catch (error) {
      this.#set({ error: error instanceof Error ? error.message : String(error) });
      this.#waitMs = Math.min(this.#waitMs * 2, MOST_POLL_MS);
    }
    this.#asking = false;
    if (this.isReport || document.visibilityState === "hidden") return;
    this.#timer = setTimeout(() => void this.#ask(), this.#waitMs);
  }

  async #take(list: RunList): Promise<void> {
    const { all, left_out = 0, oldest_ns, other_spans, revision, runs, sources } = list;
    if (this.#revision !== undefined && revision < this.#revision) {
      // Another process uses the same port now. It has other runs.
      this.#revision = undefined;
      this.#index = new RunIndex();
      return;
    }
    // A source was replaced: runs that are not in this list are gone.
    if (all === true) this.#index = new RunIndex();
    let fresh = 0;
    for (let from = 0; from < runs.length; from += AT_ONCE) {
      if (from > 0) await pause();
      fresh += this.#index.merge(runs.slice(from, from + AT_ONCE));
    }
    if (oldest_ns !== undefined && !this.isReport) this.#index.removeBefore(oldest_ns);
    if (all !== true) this.#announce(fresh);
    this.#revision = revision;
    const { rows } = this.#index;
    this.#set({
      loaded: true,
      rows,
      sources,
      otherSpans: other_spans,
      olderRuns: left_out,
      oldestNs: oldest_ns,
      error: undefined,
    });
  }

  #announce(fresh: number): void {
    this.#unannounced += fresh;
    if (this.#unannounced === 0 || Date.now() - this.#announcedAt < ANNOUNCE_MS) return;
    announce(`${counted(this.#unannounced, "new run")}.`);
    this.#unannounced = 0;
    this.#announcedAt = Date.now();
  }

  #set(change: Partial<FeedState>): void {
    const next = { ...this.#state, ...change };
    if (isSame(next, this.#state)) return;
    this.#state = next;
    for (const listener of this.#listeners) listener();
  }
}

/** Every answer has new objects for sources. Most answers change nothing. */
function isSame(next: FeedState, last: FeedState): boolean {
  return (
    next.rows === last.rows &&
    next.loaded === last.loaded &&
    next.error === last.error &&
    next.otherSpans === last.otherSpans &&
    next.olderRuns === last.olderRuns &&
    JSON.stringify(next.sources) === JSON.stringify(last.sources)
  );
}

export const FeedContext = createContext<Feed | undefined>(undefined);

/** The feed. The component renders again after every change of its state. */
export function useFeed(): Feed {
  const feed = useContext(FeedContext);
  if (feed === undefined) throw new Error("The page has no feed.");
  const [, setState] = useState(feed.state);
  useEffect(() => {
    const onChange = () => setState(feed.state);
    onChange();
    return feed.onChange(onChange);
  }, [feed]);
  return feed;
}
