import type { OrderedLine, RecordedEvent } from "../../replay/door.ts";
import { type Chain, LineSpool, type TaggedLine } from "../runs/line-spool.ts";
import { ownText } from "../runs/own-texts.ts";
import type { Trace } from "../runs/traces.ts";

/** A line that was played. */
export interface PlayedLine {
  /** How many were played before it. */
  readonly number: number;
  readonly text: string;
  /** Name of its dialect. */
  readonly dialect: string;
  readonly stream: Stream;
}

/** The lines of a run, thread or session, as its dialect names it. */
export interface Stream extends Chain {
  readonly number: number;
  thread: string | undefined;
  group: Group;
}

/**
 * Streams that must be played together: they have spans of one trace, or rows of one thread, whose chain needs all
 * rows before.
 */
export interface Group {
  readonly streams: Stream[];
  /** Number of its last line. */
  last: number;
}

/** The lines of recordings in one file, by what must be played together to make the spans and rows of a run again. */
export class RecordedLines {
  readonly #spool: LineSpool;
  readonly #dialects: string[] = [];
  readonly #byName = new Map<string, Stream>();
  readonly #streams: Stream[] = [];
  /** A stream of each thread. */
  readonly #threads = new Map<string, Stream>();
  readonly #traces = new WeakMap<Trace, Stream>();
  #count = 0;
  #current: Stream | undefined;

  /** @param path of a file that does not exist yet. */
  constructor(path: string) {
    this.#spool = new LineSpool(path);
  }

  /** Number of lines. */
  get count(): number {
    return this.#count;
  }

  /** Takes a line before it is played. */
  add(line: OrderedLine<RecordedEvent>): void {
    const name = line.streamName();
    const stream = this.#byName.get(name) ?? this.#newStream(name);
    const { thread_id } = line.envelope;
    if (thread_id !== undefined && thread_id !== stream.thread) {
      stream.thread = ownText(thread_id);
      const known = this.#threads.get(thread_id);
      if (known === undefined) this.#threads.set(stream.thread, stream);
      else join(known, stream);
    }
    this.#spool.add(`${this.#count} ${line.text}`, this.#tagOf(line, stream), stream);
    stream.group.last = this.#count;
    this.#count += 1;
    this.#current = stream;
  }

  /**
   * A span of a trace began.
   *
   * @param stream of the line in which it began. Default: that of the line that was added last.
   */
  begins(trace: Trace, stream = this.#current): void {
    if (stream === undefined) return;
    const known = this.#traces.get(trace);
    if (known === undefined) this.#traces.set(trace, stream);
    else join(known, stream);
  }

  groupsOf(traces: Iterable<Trace>): ReadonlySet<Group> {
    const groups = new Set<Group>();
    for (const trace of traces) {
      const stream = this.#traces.get(trace);
      if (stream !== undefined) groups.add(stream.group);
    }
    return groups;
  }

  /** The lines of some groups, in the order in which they were played. */
  linesOf(groups: Iterable<Group>): PlayedLine[] {
    const lines: PlayedLine[] = [];
    for (const { streams } of groups) {
      for (const stream of streams) {
        for (const tagged of this.#spool.read(stream)) {
          for (const line of this.#lineIn(tagged)) lines.push(line);
        }
      }
    }
    return lines.sort((one, other) => one.number - other.number);
  }

  /** The first lines that were played, in their order. @param end how many. */
  *all(end: number): Generator<PlayedLine> {
    // Within a batch of the file they are in the order of their streams.
    const early = new Map<number, PlayedLine>();
    let next = 0;
    for (const tagged of this.#spool.all()) {
      for (const line of this.#lineIn(tagged)) early.set(line.number, line);
      for (let due = early.get(next); due !== undefined; due = early.get(next)) {
        early.delete(next);
        next += 1;
        yield due;
      }
      if (next === end) return;
    }
  }

  close(): void {
    this.#spool.close();
  }

  #newStream(name: string): Stream {
    const streams: Stream[] = [];
    const number = this.#streams.length;
    const stream: Stream = { number, last: 0, thread: undefined, group: { streams, last: 0 } };
    streams.push(stream);
    this.#streams.push(stream);
    this.#byName.set(ownText(name), stream);
    return stream;
  }

  /** Numbers of stream and dialect as one number. */
  #tagOf({ dialect }: OrderedLine<RecordedEvent>, { number }: Stream): number {
    let at = this.#dialects.indexOf(dialect.name);
    if (at < 0) at = this.#dialects.push(dialect.name) - 1;
    return number * MOST_DIALECTS + at;
  }

  #lineIn({ line, tag }: TaggedLine): PlayedLine[] {
    const end = line.indexOf(" ");
    const stream = this.#streams[Math.floor(tag / MOST_DIALECTS)];
    const dialect = this.#dialects[tag % MOST_DIALECTS] ?? "";
    const number = Number(line.slice(0, end));
    return stream === undefined ? [] : [{ number, text: line.slice(end + 1), dialect, stream }];
  }
}

/** There are four. */
const MOST_DIALECTS = 16;

/** The smaller group becomes a part of the larger one. */
function join(one: Stream, other: Stream): void {
  if (one.group === other.group) return;
  const isLarger = one.group.streams.length >= other.group.streams.length;
  const [into, from] = isLarger ? [one.group, other.group] : [other.group, one.group];
  for (const stream of from.streams) {
    stream.group = into;
    into.streams.push(stream);
  }
  into.last = Math.max(into.last, from.last);
}
