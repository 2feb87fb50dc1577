import { boundedJson } from "../bounded-json.ts";
import type { RecorderDetails } from "../event-details.ts";
import { joinedSize, joinedTexts, keptTexts } from "../messages/message-text.ts";
import { isObject } from "../object-forms.ts";
import { withoutAdded } from "../polluted-prototype.ts";
import { CONTENT_FORMS, MOST_CONTENT_BYTES, MOST_LINE_BYTES } from "../value-limits.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The parts of a line. */
export interface LineParts {
  /** The fields of event and envelope, in their order. */
  readonly fields: Fields;
  /** The envelope's details, with content in its recorded form. */
  readonly details: Fields | undefined;
  /** The changes of the recorder so far. */
  readonly recorder: RecorderDetails;
  /** The event's type. */
  readonly type: string;
}

/** A line with its newline. */
export interface RecordedLine {
  readonly text: string;
  readonly cut: boolean;
}

/** Most bytes of a value in an audit row, and of any other value. */
interface Limits {
  readonly row: number;
  readonly other: number;
}

/** Tried in order until the line fits. Values of rows are cut as rows cut them, as long as possible. */
const LIMITS: readonly Limits[] = [
  { row: MOST_CONTENT_BYTES, other: MOST_CONTENT_BYTES },
  { row: MOST_CONTENT_BYTES, other: 1024 * 1024 },
  { row: MOST_CONTENT_BYTES, other: 64 * 1024 },
  { row: MOST_CONTENT_BYTES / 4, other: 64 * 1024 },
  { row: 64 * 1024, other: 4 * 1024 },
];

/** Types of events with content in audit rows. */
const LEAVES_ROWS: ReadonlySet<string> = new Set([
  "tool_start",
  "tool_complete",
  "tool_error",
  "tool_call_approved",
  "tool_call_denied",
  "interrupted",
]);

/** Values of rows, under their names in `recorder.cut`. */
const IN_ROWS = new Set([
  "input",
  "output",
  "error_for_llm",
  "payload",
  "reason",
  "details.decision.reason",
  "details.decision.proposed_input",
]);

/** Objects in the details whose fields are separate values. */
const NESTED = new Set(["details.decision", "details.exception"]);

/**
 * The line of an event. If it would be too long for readers, values are cut within their JSON, and
 * `details.recorder.cut` names them.
 *
 * @returns `undefined` for an event with too many fields to shorten.
 */
export function recordedLine(parts: LineParts): RecordedLine | undefined {
  for (const limits of LIMITS) {
    const line = new Line(limits, LEAVES_ROWS.has(parts.type)).of(parts);
    if (line === undefined) continue;
    const { length } = line.text;
    if (length * 3 <= MOST_LINE_BYTES || Buffer.byteLength(line.text) <= MOST_LINE_BYTES) {
      return line;
    }
  }
  return undefined;
}

class Line {
  readonly #limits: Limits;
  readonly #leavesRows: boolean;
  readonly #cut: string[] = [];
  #length = 0;

  constructor(limits: Limits, leavesRows: boolean) {
    this.#limits = limits;
    this.#leavesRows = leavesRows;
  }

  /** @returns `undefined` if the line is too long. It is then not completed. */
  of({ details, fields, recorder: given }: LineParts): RecordedLine | undefined {
    const recorder = withoutAdded(given);
    const members = this.#members(fields, "");
    const inside = details === undefined ? [] : this.#members(details, "details.");
    if (this.#length > MOST_LINE_BYTES) return undefined;
    const cut = [...new Set([...(recorder.cut ?? []), ...this.#cut])].sort();
    const changed = cut.length === 0 ? recorder : { ...recorder, cut };
    if (Object.keys(changed).length > 0) inside.push(`"recorder":${JSON.stringify(changed)}`);
    if (details !== undefined || inside.length > 0) members.push(`"details":{${inside.join(",")}}`);
    return { text: `{${members.join(",")}}\n`, cut: this.#cut.length > 0 };
  }

  /** Field by field, so that a field without JSON does not affect the others. */
  #members(fields: Fields, path: string): string[] {
    const members: string[] = [];
    for (const [name, value] of Object.entries(fields)) {
      if (this.#length > MOST_LINE_BYTES) break;
      if (value !== undefined)
        members.push(`${JSON.stringify(name)}:${this.#value(path + name, value)}`);
    }
    return members;
  }

  #value(path: string, value: unknown): string {
    if (NESTED.has(path) && isObject(value)) {
      return `{${this.#members(value, `${path}.`).join(",")}}`;
    }
    const { other, row } = this.#limits;
    const inRow = this.#leavesRows && IN_ROWS.has(path);
    const bytes = inRow ? row : other;
    // The message of an error is operator text. No row has it, so a replay must not find it here.
    const errorText = !inRow && path !== "details.input";
    const texts = keptTexts(value);
    const isKept = texts !== undefined && joinedSize(texts) <= bytes;
    const { cut, text } = isKept
      ? { cut: false, text: joinedTexts(texts) }
      : boundedJson(value, { ...CONTENT_FORMS, bytes, errorText });
    this.#length += text.length;
    if (cut) this.#cut.push(path);
    return text;
  }
}
