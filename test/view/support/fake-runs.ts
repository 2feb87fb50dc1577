import type {
  RunDetail,
  RunList,
  ViewRun,
  ViewSource,
  ViewSpan,
} from "../../../src/view/format.ts";
import { FORMAT, FORMAT_VERSION } from "../../../src/view/format.ts";
import { partLines } from "../../../src/view/run-parts.ts";
import type { RunParts } from "../../../src/view/runs/run-detail.ts";
import type { ViewedRuns } from "../../../src/view/runs/viewed-runs.ts";

const SECOND = 1_000_000_000n;
/** 2026-04-29T12:00:00Z. */
const BEGIN = 1_777_464_000n * SECOND;

/** A time in ns: seconds after the beginning. */
export function at(seconds: number): string {
  return String(BEGIN + BigInt(Math.round(seconds * 1e9)));
}

export function aRun(key: string, fields: Partial<ViewRun> = {}): ViewRun {
  return {
    key,
    run_id: key,
    tenant_id: "acme",
    trace_id: "f".repeat(32),
    agent: "planner",
    start_ns: at(0),
    end_ns: at(10),
    outcome: "complete",
    spans: 1,
    rows: 0,
    child_runs: 0,
    ...fields,
  };
}

export function aSpan(
  id: string,
  from: number,
  to: number | null,
  fields: Partial<ViewSpan> = {},
): ViewSpan {
  return {
    trace_id: "f".repeat(32),
    span_id: id,
    run_id: "run",
    kind: "tool",
    name: id,
    start_ns: at(from),
    end_ns: to === null ? null : at(to),
    failed: false,
    attributes: {},
    events: [],
    links: [],
    ...fields,
  };
}

export function aDetail(run: ViewRun, fields: Partial<RunDetail> = {}): RunDetail {
  return {
    format: FORMAT,
    version: FORMAT_VERSION,
    revision: 1,
    run,
    spans: [],
    rows: [],
    rows_from: "none",
    related: [],
    content: false,
    ...fields,
  };
}

/** Runs that are known from the start, as the sources would give them. */
export class FakeRuns implements ViewedRuns {
  readonly #details: readonly RunDetail[];
  readonly sources: readonly ViewSource[];
  closed = 0;
  /** Older runs that the list does not have. */
  leftOut = 0;
  /** Keys that were asked for. */
  readonly asked: string[] = [];

  constructor(details: readonly RunDetail[], sources: readonly ViewSource[] = []) {
    this.#details = details;
    this.sources = sources;
  }

  *listJson(since?: number): Generator<string> {
    const list = this.#listOf(since === undefined ? this.#details : []);
    const text = JSON.stringify(list);
    yield text.slice(0, 10);
    yield text.slice(10);
  }

  list(keys: readonly string[]): RunList {
    return this.#listOf(this.#details.filter(({ run }) => keys.includes(run.key)));
  }

  failedKeys(): readonly string[] {
    return this.#details.filter(({ run }) => run.outcome === "failed").map(({ run }) => run.key);
  }

  keysOf(runId: string): readonly string[] {
    return this.#details.filter(({ run }) => run.run_id === runId).map(({ run }) => run.key);
  }

  withStories(keys: readonly string[]): readonly string[] {
    const found = new Set(keys);
    for (const key of found) {
      const related = this.#details.find(({ run }) => run.key === key)?.related ?? [];
      for (const { key: other, relation } of related) {
        if (other !== undefined && relation.startsWith("resume")) found.add(other);
      }
    }
    return [...found];
  }

  async detail(key: string): Promise<RunDetail | undefined> {
    this.asked.push(key);
    return this.#details.find(({ run }) => run.key === key);
  }

  parts(key: string, since?: number): RunParts | undefined {
    this.asked.push(key);
    const detail = this.#details.find(({ run }) => run.key === key);
    if (detail === undefined) return undefined;
    const { rows, spans, ...head } = detail;
    const unchanged = since === head.revision ? { unchanged: true as const } : {};
    return {
      head: { ...head, span_count: spans.length, ...unchanged },
      async *lines() {
        yield* partLines("spans", spans);
        yield* partLines("rows", rows);
        yield `${JSON.stringify({ end: true })}\n`;
      },
    };
  }

  async ready(): Promise<void> {}
  async verify(): Promise<void> {}
  async close(): Promise<void> {
    this.closed += 1;
  }

  #listOf(details: readonly RunDetail[]): RunList {
    const { sources } = this;
    const runs = details.map(({ run }) => run);
    return {
      format: FORMAT,
      version: FORMAT_VERSION,
      revision: 1,
      sources,
      other_spans: 0,
      ...(this.leftOut === 0 ? {} : { left_out: this.leftOut }),
      runs,
    };
  }
}
