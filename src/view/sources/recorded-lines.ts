import type { OrderedLine, RecordedEvent } from "../../replay/door.ts";
import { MOST_LISTED } from "../model/list-limits.ts";
import { type Chain, LineSpool, type TaggedLine } from "../runs/line-spool.ts";
import { ownText } from "../runs/own-texts.ts";
import { deleteOldest, type Trace } from "../runs/traces.ts";

/** A line that was played. */
export interface PlayedLine {
  /** How many were played before it. */
  readonly number: number;
  readonly text: string;
  /** Name of its dialect. */
  readonly dialect: string;
  /** Number of its stream. */
  readonly stream: number;
}

/** The lines of a run, thread or session, as its dialect names it. */
interface Stream extends Chain {
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

/** Streams in memory above which those without a run of the list are put away: twice what the list has. */
const MOST_STREAMS = 2 * MOST_LISTED;
/** Groups with a line among the last ones stay in memory: their runs may not be in the list yet. */
const RECENT_LINES = 100_000;
/** Names of streams and threads that are remembered. Later lines of older ones are of a new stream. */
export const MOST_NAMES = 1_000_000;

interface RecordedLinesOptions {
  /** The traces that have a run of the list. */
  readonly listed: () => Iterable<Trace>;
  /** Default 200,000. */
  readonly mostStreams?: number | undefined;
  /** Default 100,000. */
  readonly recentLines?: number | undefined;
}

/**
 * The lines of recordings in one file, by what must be played together to make the spans and rows of a run again. Of a
 * group that is put away, memory holds two numbers for each stream, from which it is restored when it is asked for.
 */
export class RecordedLines {
  readonly #spool: LineSpool;
  readonly #options: RecordedLinesOptions;
  readonly #dialects: string[] = [];
  /** Numbers of streams by name. */
  readonly #byName = new Map<string, number>();
  /** Streams in memory, by number. */
  readonly #streams = new Map<number, Stream>();
  /** A stream of each thread. */
  readonly #threads = new Map<string, number>();
  readonly #traces = new WeakMap<Trace, number>();
  /** Of each stream that is put away: the offset of its last piece, and the next stream of its group, in a ring. */
  readonly #offsets: number[] = [];
  readonly #ring: number[] = [];
  #putAwayAbove: number;
  #count = 0;
  #current: number | undefined;

  /** @param path of a file that does not exist yet. */
  constructor(path: string, options: RecordedLinesOptions) {
    this.#spool = new LineSpool(path);
    this.#options = options;
    this.#putAwayAbove = options.mostStreams ?? MOST_STREAMS;
  }

  /** Number of streams in memory. */
  get streams(): number {
    return this.#streams.size;
  }

  /** Number of lines. */
  get count(): number {
    return this.#count;
  }

  /** Takes a line before it is played. */
  add(line: OrderedLine<RecordedEvent>): void {
    const name = line.streamName();
    const number = this.#byName.get(name);
    const stream = number === undefined ? this.#newStream(name) : this.#stream(number);
    const { thread_id } = line.envelope;
    if (thread_id !== undefined && thread_id !== stream.thread) {
      stream.thread = ownText(thread_id);
      const known = this.#threads.get(thread_id);
      if (known === undefined) this.#threads.set(stream.thread, stream.number);
      else join(this.#stream(known), stream);
    }
    this.#spool.add(`${this.#count} ${line.text}`, this.#tagOf(line, stream), stream);
    stream.group.last = this.#count;
    this.#count += 1;
    this.#current = stream.number;
  }

  /**
   * A span of a trace began.
   *
   * @param stream number of that of the line in which it began. Default: that of the line that was added last.
   */
  begins(trace: Trace, stream = this.#current): void {
    if (stream === undefined) return;
    const known = this.#traces.get(trace);
    if (known === undefined) this.#traces.set(trace, stream);
    else if (known !== stream) join(this.#stream(known), this.#stream(stream));
  }

  groupsOf(traces: Iterable<Trace>): ReadonlySet<Group> {
    const groups = new Set<Group>();
    for (const trace of traces) {
      const number = this.#traces.get(trace);
      if (number !== undefined) groups.add(this.#stream(number).group);
    }
    return groups;
  }

  /** The lines of some groups, in the order in which they were played. */
  linesOf(groups: Iterable<Group>): PlayedLine[] {
    const lines: PlayedLine[] = [];
    for (const { streams } of groups) {
      for (const stream of streams) {
        for (const tagged of this.#spool.read(stream)) lines.push(this.#lineIn(tagged));
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
      const line = this.#lineIn(tagged);
      early.set(line.number, line);
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
    if (this.#streams.size > this.#putAwayAbove) this.#putAway();
    const number = this.#ring.push(IN_MEMORY) - 1;
    this.#offsets.push(0);
    this.#byName.set(ownText(name), number);
    return this.#hold(number, 0, { streams: [], last: 0 });
  }

  #hold(number: number, last: number, group: Group): Stream {
    const stream: Stream = { number, last, thread: undefined, group };
    group.streams.push(stream);
    this.#streams.set(number, stream);
    return stream;
  }

  /** The stream with a number. If it was put away, its group is restored. */
  #stream(number: number): Stream {
    const known = this.#streams.get(number);
    if (known !== undefined) return known;
    const group: Group = { streams: [], last: this.#count };
    const stream = this.#restored(number, group);
    for (let at = this.#takeFromRing(number); at !== number; at = this.#takeFromRing(at)) {
      this.#restored(at, group);
    }
    return stream;
  }

  #restored(number: number, group: Group): Stream {
    return this.#hold(number, this.#offsets[number] ?? 0, group);
  }

  /** @returns the next stream of the ring. */
  #takeFromRing(number: number): number {
    const next = this.#ring[number] ?? number;
    this.#ring[number] = IN_MEMORY;
    return next;
  }

  /** Puts the groups away that have no run of the list: it has the newest runs, and a recording any number. */
  #putAway(): void {
    const { listed, mostStreams = MOST_STREAMS, recentLines = RECENT_LINES } = this.#options;
    // The offsets of lines that are not written yet are not known.
    this.#spool.flush();
    const held = new Set(this.groupsOf(listed()));
    for (const { group } of this.#streams.values()) {
      if (held.has(group) || group.last >= this.#count - recentLines) continue;
      for (const [at, { last, number }] of group.streams.entries()) {
        this.#offsets[number] = last;
        this.#ring[number] = group.streams[at + 1]?.number ?? group.streams[0]?.number ?? number;
        this.#streams.delete(number);
      }
    }
    deleteOldest(this.#byName, MOST_NAMES);
    deleteOldest(this.#threads, MOST_NAMES);
    this.#putAwayAbove = Math.max(mostStreams, 2 * this.#streams.size);
  }

  /** Numbers of stream and dialect as one number. */
  #tagOf({ dialect }: OrderedLine<RecordedEvent>, { number }: Stream): number {
    let at = this.#dialects.indexOf(dialect.name);
    if (at < 0) at = this.#dialects.push(dialect.name) - 1;
    return number * MOST_DIALECTS + at;
  }

  #lineIn({ line, tag }: TaggedLine): PlayedLine {
    const end = line.indexOf(" ");
    const stream = Math.floor(tag / MOST_DIALECTS);
    const dialect = this.#dialects[tag % MOST_DIALECTS] ?? "";
    return { number: Number(line.slice(0, end)), text: line.slice(end + 1), dialect, stream };
  }
}

/** There are four. */
const MOST_DIALECTS = 16;

/** In the ring: the stream is not put away. */
const IN_MEMORY = -1;

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
