import type { RunDetail, ViewSpan } from "../format.ts";
import { onTracks, type TimedSpan } from "./nesting.ts";

/**
 * Runs in the trace event format of Perfetto, speedscope and chrome://tracing: a process for each run, a complete event
 * for each span, an instant for each span event and failure, and an arrow to each child run. Times are in µs since the
 * first run, because a double cannot hold Unix times to the ns.
 */
export class ChromeTrace {
  readonly #begin: bigint;
  readonly #beginText: string;
  /** Number of the process by tenant, trace and run. */
  readonly #processes = new Map<string, number>();
  /** Number of tracks of all processes: Perfetto expects unique numbers. */
  #tracks = 0;
  /** Spans that were written. The detail of a run has the spans of its child runs as well. */
  readonly #written = new Set<string>();
  /** Tracks of the spans of runs. A child run may be written before its parent. */
  readonly #runs = new Map<string, RunTrack>();
  #before = "\n";

  /** @param beginNs start of the first run: time 0. */
  constructor(beginNs: string) {
    this.#beginText = beginNs;
    this.#begin = BigInt(beginNs);
  }

  start(): string {
    return '{"displayTimeUnit":"ms","traceEvents":[';
  }

  /** The events of a run and of everything under it. */
  *run(detail: RunDetail): Generator<string, void, undefined> {
    const last = lastTime(detail);
    const byRun = new Map<string, TimedSpan[]>();
    for (const span of detail.spans) {
      if (this.#written.has(idOf(span))) continue;
      this.#written.add(idOf(span));
      const key = `${span.trace_id}/${span.run_id ?? detail.run.run_id}`;
      const start = BigInt(span.start_ns) - this.#begin;
      const end = BigInt(span.end_ns ?? last) - this.#begin;
      const timed = { span, start, end: end < start ? start : end };
      const others = byRun.get(key);
      if (others === undefined) byRun.set(key, [timed]);
      else others.push(timed);
    }
    const tracks = new Map<string, RunTrack>();
    for (const [key, spans] of byRun) {
      const { isNew, pid } = this.#process(key);
      if (isNew) yield* this.#events(named(pid, detail, spans));
      const tids: number[] = [];
      for (const [timed, track] of onTracks(spans)) {
        const tid = tids[track] ?? ++this.#tracks;
        if (tids[track] === undefined) yield* this.#events([trackName(pid, tid, track)]);
        tids[track] = tid;
        tracks.set(idOf(timed.span), [pid, tid]);
        if (timed.span.kind === "run") this.#runs.set(idOf(timed.span), [pid, tid]);
        yield* this.#events(eventsOf(timed, pid, tid));
      }
    }
    for (const span of detail.spans) yield* this.#events(this.#arrowTo(span, tracks));
  }

  end(): string {
    const other = JSON.stringify({ begin_unix_ns: this.#beginText });
    return `\n],"otherData":${other}}\n`;
  }

  /**
   * An arrow from a call to the run that it dispatched, which is another process. @param tracks of the spans of this
   * detail.
   */
  #arrowTo(span: ViewSpan, tracks: ReadonlyMap<string, RunTrack>): TraceEvent[] {
    const { parent_span_id, trace_id } = span;
    if (parent_span_id === undefined) return [];
    const from = tracks.get(idOf({ trace_id, span_id: parent_span_id }));
    const to = this.#runs.get(idOf(span));
    if (from === undefined || to === undefined || from[0] === to[0]) return [];
    const ts = micros(BigInt(span.start_ns) - this.#begin);
    const arrow = { name: "child run", cat: "run", id: idOf(span), ts };
    return [
      { ph: "s", pid: from[0], tid: from[1], ...arrow },
      { ph: "f", bp: "e", pid: to[0], tid: to[1], ...arrow },
    ];
  }

  #process(key: string): { readonly pid: number; readonly isNew: boolean } {
    const known = this.#processes.get(key);
    const pid = known ?? this.#processes.size + 1;
    this.#processes.set(key, pid);
    return { pid, isNew: known === undefined };
  }

  *#events(events: readonly TraceEvent[]): Generator<string, void, undefined> {
    for (const event of events) {
      yield `${this.#before}${JSON.stringify(event)}`;
      this.#before = ",\n";
    }
  }
}

type RunTrack = readonly [pid: number, tid: number];

/** An event of the format. Its fields depend on `ph`. */
interface TraceEvent {
  readonly ph: "M" | "X" | "i" | "s" | "f";
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  readonly cat?: string;
  /** In µs. */
  readonly ts?: number;
  readonly dur?: number;
  /** Scope of an instant: its track. */
  readonly s?: "t";
  /** Both ends of an arrow have the same `id`. `bp`: the arrow ends at the event around it. */
  readonly id?: string;
  readonly bp?: "e";
  readonly args?: Readonly<Record<string, unknown>>;
}

function idOf({ span_id, trace_id }: Pick<ViewSpan, "span_id" | "trace_id">): string {
  return `${trace_id}/${span_id}`;
}

/** Open spans are drawn to the last known time. */
function lastTime({ run, spans }: RunDetail): bigint {
  let last = BigInt(run.end_ns ?? run.start_ns);
  for (const { end_ns, start_ns } of spans) {
    const time = BigInt(end_ns ?? start_ns);
    if (time > last) last = time;
  }
  return last;
}

function named(pid: number, { run }: RunDetail, spans: readonly TimedSpan[]): TraceEvent[] {
  const own = spans.find(({ span }) => span.kind === "run")?.span;
  const runId = own?.run_id ?? run.run_id;
  const agent = own?.attributes["gen_ai.agent.name"] ?? (runId === run.run_id ? run.agent : "");
  const name = typeof agent === "string" && agent !== "" ? `${agent} (${runId})` : runId;
  return [
    { ph: "M", pid, tid: 0, name: "process_name", args: { name } },
    { ph: "M", pid, tid: 0, name: "process_sort_index", args: { sort_index: pid } },
  ];
}

function trackName(pid: number, tid: number, track: number): TraceEvent {
  const name = track === 0 ? "agent" : `in parallel ${track}`;
  return { ph: "M", pid, tid, name: "thread_name", args: { name } };
}

function eventsOf({ end, span, start }: TimedSpan, pid: number, tid: number): TraceEvent[] {
  const track = { pid, tid };
  const cat = span.kind;
  const events: TraceEvent[] = [
    {
      ph: "X",
      ...track,
      name: span.name,
      cat,
      ts: micros(start),
      dur: micros(end - start),
      args: {
        ...span.attributes,
        trace_id: span.trace_id,
        span_id: span.span_id,
        ...(span.end_ns === null ? { open: true } : {}),
        ...(span.message === undefined ? {} : { status_message: span.message }),
      },
    },
  ];
  const begin = BigInt(span.start_ns) - start;
  for (const { attributes, name, time_ns } of span.events) {
    const ts = micros(BigInt(time_ns) - begin);
    events.push({ ph: "i", s: "t", ...track, name, cat, ts, args: attributes });
  }
  if (span.failed) {
    const kind = span.attributes["entelix.failure.kind"] ?? span.attributes["error.type"];
    const name = kind === undefined ? "failed" : `failed: ${kind}`;
    events.push({ ph: "i", s: "t", ...track, name, cat: "failure", ts: micros(end) });
  }
  return events;
}

/** ns as µs with three decimals. */
function micros(ns: bigint): number {
  return Number(ns) / 1_000;
}
