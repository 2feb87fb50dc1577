import { withoutRejections } from "../../events/door.ts";
import type { DecodeIssue, Dialect, JsonObject, UnknownEvent } from "../dialects/dialect.ts";
import { ActivityLine } from "./activity-line.ts";
import { DecodedLine, type LineIssue, parseLine } from "./decode-line.ts";
import type { EventOrder } from "./event-order.ts";
import { LinesOfValues } from "./lines-of-values.ts";
import type { NdjsonLine, OversizedPart } from "./ndjson-line.ts";
import { DEFAULT_MAX_LINE_BYTES } from "./ndjson-reader.ts";

/** Maximum number of lines that wait for one that shows the dialect. Then they are rejected. */
const PROBE_LINES = 32;

/** A rejected line or a part of it. */
export interface RejectedLine {
  readonly line: number;
  /** Unchanged bytes, including the line end. */
  readonly bytes: Buffer;
  /** Whether the line ends here. A line over the size limit comes in several parts. */
  readonly last: boolean;
}

/** An event whose type the dialect does not know. */
export interface UnknownLine extends UnknownEvent {
  readonly line: number;
  readonly text: string;
}

/** A source, and the callbacks for lines that are not events. */
export interface SourceOptions<E> {
  /** Possible dialects. With several, the first line that certainly belongs to one decides. */
  readonly dialects: readonly [Dialect<E>, ...Dialect<E>[]];
  /** Name of the source in issues. Default: the path, or `input`. */
  readonly name?: string | undefined;
  readonly maxLineBytes?: number | undefined;
  /** Called with each wrong field of a line; of a JSON value over several lines, only for the first of them. */
  readonly onIssue?: ((issue: LineIssue) => void) | undefined;
  /** Called with the bytes of each rejected line. */
  readonly onRejected?: ((rejected: RejectedLine) => void | Promise<void>) | undefined;
  /** Called with events of unknown types as soon as they are read. */
  readonly onUnknown?: ((unknown: UnknownLine) => void | Promise<void>) | undefined;
}

/** Counts of the lines of a source. */
export interface SourceReport {
  /** Lines that are not blank. Each is an event, unknown, rejected or skipped. */
  readonly lines: number;
  readonly unknown: number;
  readonly rejected: number;
  /** Lines without an event, such as a file header. */
  readonly skipped: number;
  /** Name of the dialect. `undefined` if no line showed it. */
  readonly dialect: string | undefined;
  /** Issues by field. Here and below at most 100 names are counted, the rest as `_other`. */
  readonly issues: ReadonlyMap<string, number>;
  readonly unknownTypes: ReadonlyMap<string, number>;
  /** Values outside a closed set, as `field=value`. Their events were accepted. */
  readonly unknownValues: ReadonlyMap<string, number>;
}

interface ValueLine {
  readonly line: NdjsonLine;
  readonly text: string;
  readonly value: JsonObject;
}

/** Turns the lines of one source into events. */
export class EventIntake<E> {
  readonly #options: SourceOptions<E>;
  readonly #onIssue: (issue: LineIssue) => void;
  readonly #file: string;
  readonly maxLineBytes: number;
  readonly #order: EventOrder<E>;
  /** Number of the last line of earlier sources. */
  readonly #linesBefore: number;
  readonly #values = new LinesOfValues();
  #dialect: Dialect<E> | undefined;
  /** Lines read before the dialect was known. */
  #undecided: ValueLine[] = [];
  #lines = 0;
  #unknown = 0;
  #rejected = 0;
  #skipped = 0;
  readonly #issues = new Tally();
  readonly #unknownTypes = new Tally();
  readonly #unknownValues = new Tally();

  /** @param order takes the events. Sources of one history share it. */
  constructor(options: SourceOptions<E>, order: EventOrder<E>) {
    this.#options = options;
    this.#onIssue = withoutRejections(options.onIssue);
    this.#file = options.name ?? "input";
    this.maxLineBytes = options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
    this.#order = order;
    this.#linesBefore = order.lastLine;
    const [first, ...others] = options.dialects;
    if (others.length === 0) this.#dialect = first;
  }

  /** Takes a line. @returns a promise only if a callback must be awaited: most lines need none. */
  take(part: NdjsonLine | OversizedPart): Promise<void> | undefined {
    if (part.oversized) return this.#takeOversized(part);
    this.#lines += 1;
    const { text } = part;
    if (text === undefined) return this.#reject(part, [{ field: "line", expected: "valid UTF-8" }]);
    const { value, issues } = parseLine(text);
    // The first line of a value over several lines has the issue of all.
    if (this.#values.continues(text, value !== undefined)) return this.#reject(part, []);
    if (issues !== undefined) return this.#reject(part, issues);
    if (this.#dialect === undefined) return this.#takeUndecided({ line: part, text, value });
    return this.#decode(this.#dialect, part, text, value);
  }

  /** Ends the source. Its last events wait until the order is released. */
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
        return this.#order.push(
          new DecodedLine(decoded, dialect, this.#lineNumber(line.line), text),
        );
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

  /** The issue of a line that certainly belongs to another runtime. */
  #foreignIn(dialect: Dialect<E>, value: JsonObject): DecodeIssue | undefined {
    const other = this.#options.dialects.find((d) => d !== dialect && d.looksLike(value));
    if (other === undefined) return undefined;
    const expected = `an event of ${dialect.name}, as before in this source, not of ${other.name}`;
    return { field: "type", expected };
  }

  /** Number of a line, counted on through all sources. */
  #lineNumber(line: number): number {
    this.#order.lastLine = Math.max(this.#order.lastLine, this.#linesBefore + line);
    return this.#linesBefore + line;
  }

  async #passUnknown(unknown: UnknownLine, dialect: Dialect<E>): Promise<void> {
    this.#unknown += 1;
    this.#unknownTypes.add(unknown.unknown);
    await this.#options.onUnknown?.(unknown);
    const { line, text, value } = unknown;
    const activity = this.#order.takesActivity ? dialect.activityOf?.(value, undefined) : undefined;
    if (activity === undefined) return;
    const number = this.#lineNumber(line);
    const busy = this.#order.push(new ActivityLine(value, activity, dialect, number, text));
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
    this.#onIssue({ file: this.#file, line, field, expected });
  }
}

/** Names with a count of their own. */
const MAX_NAMES = 100;
/** Longest counted name in UTF-16 units. Longer names are cut. */
const NAME_LENGTH = 100;
/** Name that counts all others. */
const OTHER = "_other";

/** Counts outside names: at most 100 of them, the rest as `_other`. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string): void {
    const short = name.slice(0, NAME_LENGTH);
    const known = this.#counts.has(short) || this.#counts.size < MAX_NAMES;
    const key = known ? short : OTHER;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** The counts so far, in the order of first appearance. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }
}
