import type { Instant } from "../../../../src/entries/events.ts";
import { addMilliseconds, compareInstants, formatRfc3339 } from "../../../../src/events/door.ts";
import type { Random } from "../../../support/random.ts";
import { RunEvents, second } from "../../../support/run-events.ts";

/** Lines of many runs, each with one below it. */
export interface LateStreams {
  /** In the order of their times. */
  readonly sorted: readonly string[];
  /** As they come: see {@link lateStreams}. */
  readonly arrived: readonly string[];
  readonly runs: readonly string[];
}

export interface LateStreamsOptions {
  /** Roots, with nine events each. */
  readonly roots: number;
  /** Lines that are shuffled among each other: no line comes more places late in its own stream. */
  readonly block: number;
  /** By how many seconds the events of a root may be earlier or later than they come. */
  readonly offsets: readonly number[];
  /** Chance that a line is lost, and that it comes twice. Default 0. */
  readonly lost?: number;
  readonly doubled?: number;
  /** Names a run: default by its number. */
  readonly runId?: (random: Random) => string;
}

interface Line {
  readonly at: Instant;
  /** When it comes, in ms. */
  readonly comes: number;
  readonly text: string;
}

/**
 * Runs whose events come in their order, each run earlier or later than its events say, and all shuffled within
 * blocks: backlogs that come at once, clocks that are wrong for long, lost lines, lines that come twice.
 */
export function lateStreams(random: Random, options: LateStreamsOptions): LateStreams {
  const { doubled = 0, lost = 0, offsets, roots, block } = options;
  const lines: Line[] = [];
  const runs: string[] = [];
  for (let n = 0; n < roots; n += 1) {
    const ids = [0, 1].map((below) => options.runId?.(random) ?? uuid(2 * n + below));
    runs.push(...ids);
    const offset = random.of(offsets) * 1000;
    // A backlog comes at once, whatever time passed between its events.
    const isBacklog = random.chance(0.3);
    let at = random.below(roots * 500);
    const begin = at;
    for (const [index, event] of eventsOf(n, ids).entries()) {
      at += random.of([0, 1, 250, 1_500]);
      const time = addMilliseconds(second(0), at + offset);
      const text = JSON.stringify({
        ...event,
        sequence: index,
        event_id: uuid(1_000_000 + n * 100 + index),
        timestamp: formatRfc3339(time),
      });
      if (random.chance(lost)) continue;
      const comes = isBacklog ? begin : at;
      lines.push({ at: time, comes, text });
      if (random.chance(doubled)) lines.push({ at: time, comes, text });
    }
  }
  lines.sort((a, b) => a.comes - b.comes);
  const arrived: string[] = [];
  for (let start = 0; start < lines.length; start += block) {
    arrived.push(...shuffled(lines.slice(start, start + block), random).map(({ text }) => text));
  }
  const sorted = lines.toSorted((a, b) => compareInstants(a.at, b.at)).map(({ text }) => text);
  return { sorted, arrived, runs };
}

function eventsOf(n: number, [rootId = "", belowId = ""]: readonly string[]) {
  const [root, below] = [new RunEvents(rootId), new RunEvents(belowId)];
  return [
    root.started(`planner ${n}`),
    root.toolStart("call_1"),
    below.started(`helper ${n}`, rootId),
    below.toolStart("call_1", "search"),
    below.toolComplete("call_1", "search", 1),
    below.complete(),
    root.toolComplete("call_1", "fetch", 2),
    root.toolStart("call_1"),
    root.complete(),
  ];
}

function uuid(n: number): string {
  return `018f3c7a-0000-7000-8000-${String(n).padStart(12, "0")}`;
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, key: random.below(1_000_000) }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
