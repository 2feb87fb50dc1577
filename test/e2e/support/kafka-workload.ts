import { formatRfc3339, fromMilliseconds } from "../../../src/events/door.ts";
import { Random } from "../../support/random.ts";
import type { RecordToProduce } from "./kafka-broker.ts";
import { type Slot, type Template, templates } from "./kafka-templates.ts";

export interface WorkloadOptions {
  /** How many events, about: streams are not cut for it. */
  readonly events: number;
  readonly seed: number;
  /** Event time of the first stream, in ms since 1970; see {@link beginFor}. */
  readonly beginMs: number;
}

/** From one stream's begin to the next one's in event time, in ms: some hundreds are under way at once. */
const STREAM_EVERY_MS = 20;
/** Streams have more events than this, on average. */
const EVENTS_A_STREAM = 5;
const TENANTS = 5;

const SHARES = {
  /** Sent twice, and put off until others have gone. */
  duplicate: 0.01,
  late: 0.01,
  /** In one record with the stream's next event. */
  joined: 0.01,
  unreadable: 0.003,
  /** Streams that end in the middle: their runs end by their age. */
  cut: 0.01,
} as const;
/** So many records later, at most. */
const FARTHEST = 12;

/**
 * When a workload has to begin for its last event to lie in the past: what is ahead of its own arrival
 * in the log is not put in order.
 */
export function beginFor(events: number): number {
  return Date.now() - 600_000 - (events / EVENTS_A_STREAM) * STREAM_EVERY_MS;
}

interface Stream {
  readonly template: Template;
  readonly beginMs: number;
  readonly fill: (parts: readonly (string | Slot)[], atMs: number) => string;
  readonly key: string;
  readonly tenant: string;
  /** The first line that does not come any more. */
  readonly end: number;
  line: number;
}

/**
 * A topic's content: recorded streams of all runtimes, each with ids of its own, hundreds at once, of
 * several tenants; some events twice, some late, some that can't be read.
 */
export class KafkaWorkload {
  readonly options: WorkloadOptions;
  /** What was made so far. */
  events = 0;
  streams = 0;
  records = 0;
  /** Keys of the records that can't be read: each has its own. */
  readonly unreadable = new Set<string>();
  readonly #random: Random;
  readonly #templates = templates();
  /** Under way, the one with the earliest next event first. */
  readonly #heap: Stream[] = [];
  readonly #later = new Map<number, RecordToProduce[]>();

  constructor(options: WorkloadOptions) {
    this.options = options;
    this.#random = new Random(options.seed);
  }

  /** To be taken once. */
  *all(): Generator<RecordToProduce> {
    let nextStreamMs = this.options.beginMs;
    while (this.events < this.options.events || this.#heap.length > 0) {
      const [next] = this.#heap;
      const full = this.events >= this.options.events;
      if (!full && (next === undefined || dueMs(next) > nextStreamMs)) {
        this.#push(this.#begin(nextStreamMs));
        nextStreamMs += STREAM_EVERY_MS;
        continue;
      }
      const stream = this.#pop();
      if (stream === undefined) break;
      for (const record of this.#recordsOf(stream)) yield* this.#emit(record);
      if (stream.line < stream.end) this.#push(stream);
    }
    for (const put of [...this.#later.values()].flat()) {
      this.records++;
      yield put;
    }
  }

  #begin(beginMs: number): Stream {
    const template = this.#random.of(this.#templates);
    const serial = this.streams++;
    const { lines } = template;
    const cut = lines.length > 2 && this.#random.chance(SHARES.cut);
    const fill = filler(serial, this.options.seed, beginMs);
    return {
      template,
      beginMs,
      fill,
      key: fill(template.key, beginMs),
      tenant: `tenant-${this.#random.below(TENANTS)}`,
      end: cut ? 2 : lines.length,
      line: 0,
    };
  }

  *#recordsOf(stream: Stream): Generator<RecordToProduce> {
    const joined =
      stream.line + 1 < stream.end && this.#random.chance(SHARES.joined)
        ? [this.#text(stream), this.#text(stream)]
        : [this.#text(stream)];
    const { key, tenant, template } = stream;
    const headers = template.tenantByHeader ? { "entelix-tenant": tenant } : {};
    const record = { key, value: joined.join("\n"), headers };
    if (this.#random.chance(SHARES.late)) this.#putOff(record);
    else yield record;
    if (this.#random.chance(SHARES.duplicate)) this.#putOff(record);
    if (this.#random.chance(SHARES.unreadable)) yield this.#unreadable();
  }

  #text(stream: Stream): string {
    const { beginMs, fill, template, tenant } = stream;
    const line = template.lines[stream.line++];
    if (line === undefined) throw new Error(`${template.name}: no line ${stream.line}`);
    this.events++;
    const text = fill(line.parts, beginMs + line.afterMs);
    return template.tenantByHeader
      ? text
      : text.replaceAll(/"tenant_id":"[^"]*"/g, `"tenant_id":"${tenant}"`);
  }

  #unreadable(): RecordToProduce {
    const key = `unreadable-${this.unreadable.size}`;
    this.unreadable.add(key);
    const bad: readonly RecordToProduce[] = [
      { value: `{"type":"started","run_id":` },
      { value: "[1,2,3]" },
      { value: `{"type":"started","timestamp":"2026-05-04T09:00:00Z","tenant_id":"acme"}` },
      { value: `{"hello":"world"}` },
      { value: " " },
      { base64: "/////w==" },
      {},
      { value: "{}", headers: { "entelix-dialect": "klingon" } },
    ];
    return { ...this.#random.of(bad), key };
  }

  #putOff(record: RecordToProduce): void {
    const at = this.records + 1 + this.#random.below(FARTHEST);
    const others = this.#later.get(at);
    if (others === undefined) this.#later.set(at, [record]);
    else others.push(record);
  }

  *#emit(record: RecordToProduce): Generator<RecordToProduce> {
    this.records++;
    yield record;
    const due = this.#later.get(this.records);
    if (due === undefined) return;
    this.#later.delete(this.records);
    for (const put of due) yield* this.#emit(put);
  }

  #push(stream: Stream): void {
    const heap = this.#heap;
    let at = heap.push(stream) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (this.#dueAt(above) <= this.#dueAt(at)) return;
      this.#swap(at, above);
      at = above;
    }
  }

  #pop(): Stream | undefined {
    const heap = this.#heap;
    this.#swap(0, heap.length - 1);
    const first = heap.pop();
    let at = 0;
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = at;
      if (this.#dueAt(left) < this.#dueAt(least)) least = left;
      if (this.#dueAt(right) < this.#dueAt(least)) least = right;
      if (least === at) return first;
      this.#swap(at, least);
      at = least;
    }
  }

  #dueAt(at: number): number {
    const stream = this.#heap[at];
    return stream === undefined ? Number.POSITIVE_INFINITY : dueMs(stream);
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap;
    const [first, second] = [heap[a], heap[b]];
    if (first === undefined || second === undefined) return;
    heap[a] = second;
    heap[b] = first;
  }
}

function dueMs({ beginMs, line, template }: Stream): number {
  return beginMs + (template.lines[line]?.afterMs ?? 0);
}

/** Fills a template's slots for one stream: the same slot always alike, and no two streams'. */
function filler(serial: number, seed: number, beginMs: number): Stream["fill"] {
  const number = serial.toString(16).padStart(8, "0");
  const suffix = `-${seed.toString(36)}-${number}`;
  const time = Math.floor(beginMs).toString(16).padStart(12, "0");
  const uuid = (index: number, recorded: string) => {
    // The version stays: those of version 7 begin with their time.
    const version = recorded.slice(14, 18);
    const tail = `${number}${index.toString(16).padStart(4, "0")}`;
    const head = version.startsWith("7")
      ? `${time.slice(0, 8)}-${time.slice(8)}`
      : `${number}-0000`;
    return `${head}-${version}-${recorded.slice(19, 23)}-${tail}`;
  };
  return (parts, atMs) => {
    let text = "";
    for (const part of parts) {
      if (typeof part === "string") text += part;
      else if (part.slot === "uuid") text += uuid(part.index, part.recorded);
      else if (part.slot === "suffix") text += suffix;
      else text += formatRfc3339(instantAt(atMs));
    }
    return text;
  };
}

function instantAt(atMs: number): ReturnType<typeof fromMilliseconds> {
  const ms = Math.floor(atMs);
  const [second, nano] = fromMilliseconds(ms);
  // The order of what was recorded in one millisecond stays.
  return [second, nano + Math.floor((atMs - ms) * 1e6)];
}
