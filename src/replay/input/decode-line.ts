import {
  checkArgument,
  type Instant,
  JsonSyntaxError,
  type JsonValue,
  MOST_NAME,
  parseExact,
} from "../../events/door.ts";
import {
  type DecodedEvent,
  type DecodeIssue,
  type Dialect,
  type EventRank,
  isJsonObject,
  type JsonObject,
  type LineEnvelope,
  type StreamKey,
} from "../dialects/dialect.ts";
import { opensValue } from "./lines-of-values.ts";
import { type OrderItem, positionOf } from "./order-item.ts";

/**
 * A decoded line: an event with its envelope.
 *
 * @typeParam E the dialect's event.
 */
export class DecodedLine<E> implements OrderItem {
  readonly event: E;
  readonly envelope: LineEnvelope;
  readonly at: Readonly<Instant>;
  readonly rank: EventRank;
  readonly dialect: Dialect<E>;
  /** Number of the line in its file, from 1, counted on through all files of one history. */
  readonly line: number;
  /** The line without its line end. */
  readonly text: string;

  constructor(decoded: DecodedEvent<E>, dialect: Dialect<E>, line: number, text: string) {
    this.event = decoded.event;
    this.envelope = decoded.envelope;
    this.at = decoded.envelope.timestamp;
    this.rank = decoded.rank;
    this.dialect = dialect;
    this.line = line;
    this.text = text;
  }

  get sequence(): number | bigint | undefined {
    return this.envelope.sequence ?? this.position;
  }

  get position(): number | undefined {
    return positionOf(this);
  }

  get eventId(): string | undefined {
    return this.envelope.event_id;
  }

  streamKey(): StreamKey {
    return this.dialect.streamKey(this.event, this.envelope);
  }

  streamName(): string {
    return this.dialect.streamName(this.event, this.envelope);
  }
}

/** The JSON object of a line, or at least one issue. */
export type ParsedLine =
  | { readonly value: JsonObject; readonly issues?: undefined }
  | { readonly value?: undefined; readonly issues: readonly DecodeIssue[] };

const NO_ARRAY = "one event a line, and no array (jq -c '.[]' writes its events so)";
const NO_PIECE = "a whole event in one line (jq -c . writes it so)";

/** The expected form if the first line shows an array, or an object over several lines. */
function otherForm(text: string): string | undefined {
  if (text.trimStart().startsWith("[")) return NO_ARRAY;
  return opensValue(text) ? NO_PIECE : undefined;
}

/**
 * Parses a line; numbers keep every digit. Returns issues if the line is not a JSON object, or has an ID or name of
 * more than 4,096 characters.
 */
export function parseLine(text: string): ParsedLine {
  try {
    const value = parseExact(text);
    if (!isJsonObject(value)) {
      const expected = Array.isArray(value) ? NO_ARRAY : "a JSON object";
      return { issues: [{ field: "line", expected }] };
    }
    const issues = text.length > MOST_NAME ? longNames(value) : [];
    return issues.length === 0 ? { value } : { issues };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const expected = otherForm(text) ?? `${error.expected} at column ${error.position + 1}`;
    return { issues: [{ field: "json", expected }] };
  }
}

/** Names of fields with IDs and names, by their last word. Fields with content do not match. */
const NAME =
  /(?:^|_)(?:account|agent|checkpoint|class|from|id|key|kind|model|name|nickname|path|provider|tier|to|tool|traceparent|tracestate|type|version)$/;

/** Objects that contain names. */
const INSIDE: ReadonlySet<string> = new Set(["envelope", "event", "fields", "inner", "kind"]);

/**
 * IDs and names that are too long. They are kept while runs are open, and some longer. Their number is bounded, so
 * their size must be too.
 */
export function longNames(line: JsonObject, path = ""): DecodeIssue[] {
  const issues: DecodeIssue[] = [];
  for (const [name, value] of Object.entries(line)) {
    const field = path + name;
    if (INSIDE.has(name) && isJsonObject(value))
      for (const issue of longNames(value, `${field}.`)) issues.push(issue);
    else if (NAME.test(name) && lengthOf(value) > MOST_NAME) {
      issues.push({ field, expected: "at most 4,096 characters" });
    }
  }
  return issues;
}

/** The length of a text, or of all texts of a list together. */
function lengthOf(value: JsonValue): number {
  if (typeof value === "string") return value.length;
  if (!Array.isArray(value)) return 0;
  return value.reduce<number>((sum, item) => sum + (typeof item === "string" ? item.length : 0), 0);
}

/** A problem with one line of a file. */
export interface LineIssue extends DecodeIssue {
  /** Name of the file or other source. */
  readonly file: string;
  /** Number of the line, from 1. */
  readonly line: number;
}

/**
 * Formats an issue as compilers do.
 *
 * @example
 * formatIssue(issue); // 'events.ndjson:12: tenant_id: expected non-empty text'
 */
export function formatIssue(issue: LineIssue): string {
  checkArgument(issue, "issue");
  return `${issue.file}:${issue.line}: ${issue.field}: expected ${issue.expected}`;
}
