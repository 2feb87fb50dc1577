import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { MOST_NAME } from "../../events/door.ts";
import type { DecodeIssue } from "../../replay/door.ts";
import type { LogLine } from "../journal/log-line.ts";
import type { TopicRecord } from "./topic-record.ts";

/** Rules for all records of a consumer. */
export interface RecordRules {
  /** Dialect of records without the header `entelix-dialect`. `undefined`: each line shows its own. */
  readonly dialect: string | undefined;
  /** Possible values of that header. */
  readonly dialects: readonly string[];
  /** Whether a `traceparent` in a line is followed. */
  readonly trusted: boolean;
}

export type RecordLines =
  | { readonly lines: readonly LogLine[] }
  | { readonly issues: readonly DecodeIssue[] };

const LINE_FEED = 0x0a;
const DIALECT_HEADER = "entelix-dialect";
const TENANT_HEADER = "entelix-tenant";

/**
 * The lines of a record's value: one, or several (NDJSON) with the same offset. The headers `entelix-dialect` and
 * `entelix-tenant` give their dialect and tenant.
 */
export function recordLines(record: TopicRecord, rules: RecordRules): RecordLines {
  const { cut, offset, value, timestampMs: arrivedMs } = record;
  if (cut !== undefined) return refused("record", cut.reason);
  if (value === null) return refused("value", "one JSON object a line, got none");
  if (!isUtf8(value)) return refused("value", "UTF-8");
  const dialect = header(record, DIALECT_HEADER) ?? rules.dialect;
  if (dialect !== undefined && !rules.dialects.includes(dialect)) {
    return refused(DIALECT_HEADER, rules.dialects.join(", "));
  }
  const tenant = header(record, TENANT_HEADER);
  if (tenant === "") return refused(TENANT_HEADER, "a tenant");
  if (tenant !== undefined && tenant.length > MOST_NAME) {
    return refused(TENANT_HEADER, "at most 4,096 characters");
  }
  const key = record.key === null ? undefined : senderOf(record.key);
  const { trusted } = rules;
  const line = (text: string): LogLine => {
    return { offset, text, tenant, dialect, key, trusted, arrivedMs };
  };
  const text = value.toString("utf8");
  if (!value.includes(LINE_FEED)) {
    return text.trim() === "" ? blank() : { lines: [line(text)] };
  }
  const texts = text.split("\n").filter((part) => part.trim() !== "");
  return texts.length === 0 ? blank() : { lines: texts.map(line) };
}

function blank(): RecordLines {
  return refused("value", "one JSON object a line, got a blank");
}

function refused(field: string, expected: string): RecordLines {
  return { issues: [{ field, expected }] };
}

/** Keys of senders are kept in memory, and a key may be as long as a record. */
function senderOf(key: Buffer): string {
  if (key.length <= MOST_NAME) return key.toString("utf8");
  return createHash("sha256").update(key).digest("base64");
}

/** The last header of that name, as Kafka's own clients do. */
function header({ headers }: TopicRecord, name: string): string | undefined {
  return headers.findLast(([key]) => key?.toString("utf8") === name)?.[1]?.toString("utf8");
}
