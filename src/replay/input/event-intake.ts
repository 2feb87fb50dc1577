import type { DecodeIssue, Dialect, JsonObject, UnknownEvent } from "../dialects/dialect.ts";
import { ActivityLine } from "./activity-line.ts";
import { DecodedLine, type LineIssue, parseLine } from "./decode-line.ts";
import type { EventOrder } from "./event-order.ts";
import type { NdjsonLine, OversizedPart } from "./ndjson-line.ts";
import { DEFAULT_MAX_LINE_BYTES } from "./ndjson-reader.ts";

/** Lines that are looked at together to tell the dialect. */
const PROBE_LINES = 32;

/** What of a rejected line was read: the line as it stands in the source, or a part of it. */
export interface RejectedLine {
  readonly line: number;
  /** Unchanged bytes, with the line end where the line has one. */
  readonly bytes: Buffer;
  /** Whether the line ends here. A line over the size limit comes in several parts. */
  readonly last: boolean;
}

/** An event whose type the dialect does not know. */
export interface UnknownLine extends UnknownEvent {
  readonly line: number;
  readonly text: string;
}

/** A source, and who takes what is not an event of it. */
export interface SourceOptions<E> {
  /** The dialects that may come. With several, the first line that is surely of one decides. */
  readonly dialects: readonly [Dialect<E>, ...Dialect<E>[]];
  /** Name of the source in issues. Default: the path, or `input`. */
  readonly name?: string | undefined;
  readonly maxLineBytes?: number | undefined;
  /** Told what is wrong with a line, once for each field. */
  readonly onIssue?: ((issue: LineIssue) => void) | undefined;
  /** Given the bytes of each line that is rejected, so that nothing is lost. */
  readonly onRejected?: ((rejected: RejectedLine) => void | Promise<void>) | undefined;
  /** Given the events of unknown types, as soon as they are read. */
  readonly onUnknown?: ((unknown: UnknownLine) => void | Promise<void>) | undefined;
}

/** The lines of a source. */
export interface SourceReport {
  /** Lines that are not blank. Each is an event, an unknown event, rejected or skipped. */
  readonly lines: number;
  readonly unknown: number;
  readonly rejected: number;
  /** Lines that belong to the file's own form, such as a header. */
  readonly skipped: number;
  /** Name of the dialect; `undefined` when no line told it. */
  readonly dialect: string | undefined;
  /** Issues by field; at most 100 names here and below, the rest as `_other`. */
  readonly issues: ReadonlyMap<string, number>;
  readonly unknownTypes: ReadonlyMap<string, number>;
  /** Values outside a closed set, as `field=value`; their events were taken. */
  readonly unknownValues: ReadonlyMap<string, number>;
}

interface ValueLine {
  readonly line: NdjsonLine;
  readonly text: string;
  readonly value: JsonObject;
}

/** One source on its way from lines to events. */
export class EventIntake<E> {
  readonly #options: SourceOptions<E>;
  readonly #file: string;
  readonly maxLineBytes: number;
  readonly #order: EventOrder<E>;
  /** Lines of the sources before it. */
  readonly #linesBefore: number;
  #dialect: Dialect<E> | undefined;
  /** Lines that were read before the dialect was known. */
  #undecided: ValueLine[] = [];
  #lines = 0;
  #unknown = 0;
  #rejected = 0;
  #skipped = 0;
  readonly #issues = new Tally();
  readonly #unknownTypes = new Tally();
  readonly #unknownValues = new Tally();

  /** @param order takes its events; that of the sources before it, where they are one history. */
  constructor(options: SourceOptions<E>, order: EventOrder<E>) {
    this.#options = options;
    this.#file = options.name ?? "input";
    this.maxLineBytes = options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
    this.#order = order;
    this.#linesBefore = order.lastLine;
    const [first, ...others] = options.dialects;
    if (others.length === 0) this.#dialect = first;
  }

  /** A promise only where something has to be waited for, since most lines need none. */
  take(part: NdjsonLine | OversizedPart): Promise<void> | undefined {
    if (part.oversized) return this.#takeOversized(part);
    this.#lines += 1;
    const { text } = part;
    if (text === undefined) return this.#reject(part, [{ field: "line", expected: "valid UTF-8" }]);
    const { value, issues } = parseLine(text);
    if (issues !== undefined) return this.#reject(part, issues);
    if (this.#dialect === undefined) return this.#takeUndecided({ line: part, text, value });
    return this.#decode(this.#dialect, part, text, value);
  }

  /** The source gives no more. Its last events wait until the order is released. */
  end(): Promise<void> {
    return this.#rejectUndecided();
  }

  report(): SourceReport {
    return {
      lines: this.#lines,
      unknown: this.#unknown,
      rejected: this.#rejected,
      skipped: this.#skipped,
      dialect: this.#dialect?.name,
      issues: this.#issues.counts,
      unknownTypes: this.#unknownTypes.counts,
      unknownValues: this.#unknownValues.counts,
    };
  }

  #decode(
    dialect: Dialect<E>,
    line: NdjsonLine,
    text: string,
    value: JsonObject,
  ): Promise<void> | undefined {
    const decoded = dialect.decode(value);
    switch (decoded.outcome) {
      case "event": {
        for (const unknown of decoded.unknownValues) this.#unknownValues.add(unknown);
        return this.#order.push(new DecodedLine(decoded, dialect, this.#placeOf(line.line), text));
      }
      case "unknown": {
        const foreign = this.#foreignIn(dialect, value);
        if (foreign !== undefined) return this.#reject(line, [foreign]);
        return this.#passUnknown({ ...decoded, line: line.line, text }, dialect);
      }
      case "rejected": {
        const foreign = dialect.looksLike(value) ? undefined : this.#foreignIn(dialect, value);
        return this.#reject(line, foreign === undefined ? decoded.issues : [foreign]);
      }
      case "skipped":
        this.#skipped += 1;
        return undefined;
      default:
        return decoded satisfies never;
    }
  }

  /** What is wrong with a line that is surely of another runtime. */
  #foreignIn(dialect: Dialect<E>, value: JsonObject): DecodeIssue | undefined {
    const other = this.#options.dialects.find((d) => d !== dialect && d.looksLike(value));
    if (other === undefined) return undefined;
    const expected = `an event of ${dialect.name}, as before in this source, not of ${other.name}`;
    return { field: "type", expected };
  }

  /** Number of a line in all sources. */
  #placeOf(line: number): number {
    this.#order.lastLine = Math.max(this.#order.lastLine, this.#linesBefore + line);
    return this.#linesBefore + line;
  }

  async #passUnknown(unknown: UnknownLine, dialect: Dialect<E>): Promise<void> {
    this.#unknown += 1;
    this.#unknownTypes.add(unknown.unknown);
    await this.#options.onUnknown?.(unknown);
    const { line, text, value } = unknown;
    const sign = this.#order.takesActivity ? dialect.activityOf?.(value, undefined) : undefined;
    if (sign === undefined) return;
    const place = this.#placeOf(line);
    const busy = this.#order.push(new ActivityLine(value, sign, dialect, place, text));
    if (busy !== undefined) await busy;
  }

  async #takeUndecided(line: ValueLine): Promise<void> {
    this.#undecided.push(line);
    const dialect = this.#options.dialects.find((d) => d.looksLike(line.value));
    if (dialect !== undefined) {
      this.#dialect = dialect;
      for (const { line, text, value } of this.#takeAllUndecided()) {
        await this.#decode(dialect, line, text, value);
      }
    } else if (this.#undecided.length >= PROBE_LINES) await this.#rejectUndecided();
  }

  async #rejectUndecided(): Promise<void> {
    const names = this.#options.dialects.map((dialect) => dialect.name).join(" or ");
    const issues = [{ field: "type", expected: `an event of ${names}` }];
    for (const { line } of this.#takeAllUndecided()) await this.#reject(line, issues);
  }

  #takeAllUndecided(): readonly ValueLine[] {
    const lines = this.#undecided;
    this.#undecided = [];
    return lines;
  }

  async #takeOversized(part: OversizedPart): Promise<void> {
    const { line, bytes, last } = part;
    if (last) {
      this.#lines += 1;
      this.#rejected += 1;
      this.#note(line, { field: "line", expected: `at most ${this.maxLineBytes} bytes` });
    }
    await this.#options.onRejected?.({ line, bytes, last });
  }

  async #reject(line: NdjsonLine, issues: readonly DecodeIssue[]): Promise<void> {
    this.#rejected += 1;
    for (const issue of issues) this.#note(line.line, issue);
    await this.#options.onRejected?.({ line: line.line, bytes: line.bytes, last: true });
  }

  #note(line: number, { field, expected }: DecodeIssue): void {
    this.#issues.add(field);
    this.#options.onIssue?.({ file: this.#file, line, field, expected });
  }
}

/** Names that are counted on their own. */
const MAX_NAMES = 100;
/** Length of a counted name in UTF-16 units; what is longer is cut. */
const NAME_LENGTH = 100;
/** What the names beyond the first 100 are counted as. */
const OTHER = "_other";

/** Counts by name, for names that come from outside: at most 100 of them, the rest as `_other`. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string): void {
    const short = name.slice(0, NAME_LENGTH);
    const known = this.#counts.has(short) || this.#counts.size < MAX_NAMES;
    const key = known ? short : OTHER;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** The counts so far, in the order in which the names first came. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
