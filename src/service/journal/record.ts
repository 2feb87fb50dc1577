import { crc32 } from "node:zlib";
import { lineText } from "../../audit/door.ts";
import { isCount, parseJson } from "../../events/door.ts";
import type { LogLine, NewLine } from "./log-line.ts";

/*
 * A record is one line of text: a checksum of the rest, a JSON object with the line's fields, a tab, and the unchanged
 * line. A hole is a record without a line. It replaces damaged records of the last write, so that offsets have no gaps.
 * A hole for no lines is the end mark. Each write ends with one, and the next write replaces it. A file without an end
 * mark was cut.
 */

/** A line in the journal, or a hole. */
export interface JournalRecord {
  readonly offset: number;
  /** The next offset. A hole covers any number of lines. */
  readonly next: number;
  /** First offset of the record's write. Everything before it was on the disk when this record was written. */
  readonly write: number;
  /** `undefined`: a hole. */
  readonly line: LogLine | undefined;
}

/** The fields that differ for each line. */
export interface RecordPosition {
  readonly offset: number;
  readonly write: number;
  readonly arrivedMs: number;
}

const TAB = 0x09;
const OTHER_FORM = "a record of another form";

/** The other fields of the JSON object. Lines of one sender share them. */
export function sharedFields({ dialect, key, tenant, trusted }: NewLine): string {
  return JSON.stringify({ trusted, tenant, dialect, key }).slice(1);
}

/** @param shared the result of {@link sharedFields} for the line. */
export function recordText(position: RecordPosition, shared: string, text: string): string {
  const { arrivedMs, offset, write } = position;
  const fields = `{"offset":${offset},"write":${write},"arrived":${arrivedMs},${shared}`;
  return withChecksum(`${fields}\t${text}`);
}

/** A record that replaces missing lines, or the end mark if none are missing. */
export function holeText(offset: number, missing: number, write: number): string {
  return withChecksum(`${JSON.stringify({ offset, write, missing })}\t`);
}

export function isEndMark({ next, offset }: JournalRecord): boolean {
  return next === offset;
}

/** @returns the record, or a description of the content. */
export function readRecord(bytes: Uint8Array): JournalRecord | string {
  const body = checked(bytes);
  if (body === undefined) return "bytes with another checksum";
  const tab = body.indexOf(TAB);
  const fields = parseJson(lineText(body.subarray(0, Math.max(0, tab))));
  if (!isObject(fields)) return OTHER_FORM;
  const { arrived, dialect, key, missing, offset, tenant, trusted, write } = fields;
  if (!isCount(offset) || !isCount(write) || write > offset) return OTHER_FORM;
  if (isCount(missing)) return { offset, next: offset + missing, write, line: undefined };
  if (typeof arrived !== "number" || typeof trusted !== "boolean") return OTHER_FORM;
  if (!isName(tenant) || !isName(dialect) || !isName(key)) return OTHER_FORM;
  const text = lineText(body.subarray(tab + 1));
  const line = { offset, text, tenant, dialect, key, trusted, arrivedMs: arrived };
  return { offset, next: offset + 1, write, line };
}

/** The offset at the start of a record. The checksum is not checked. */
export function claimedOffset(start: Uint8Array): number | undefined {
  const match = /^[0-9a-f]{8} \{"offset":(\d{1,16}),/.exec(lineText(start.subarray(0, 48)));
  return match === null ? undefined : Number(match[1]);
}

function isName(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

const CHARS = 8;

/** A text after its CRC-32, in hexadecimal, and a space. */
export function withChecksum(text: string): string {
  return `${checksum(text)} ${text}`;
}

/** The bytes after a checksum, or `undefined` if it does not match. */
export function checked(bytes: Uint8Array): Uint8Array | undefined {
  const rest = bytes.subarray(CHARS + 1);
  return lineText(bytes.subarray(0, CHARS + 1)) === `${checksum(rest)} ` ? rest : undefined;
}

function checksum(of: string | Uint8Array): string {
  return crc32(of).toString(16).padStart(CHARS, "0");
}
