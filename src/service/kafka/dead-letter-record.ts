import { createHash } from "node:crypto";
import type { DecodeIssue } from "../../replay/door.ts";
import type { ProducedRecord } from "./kafka-library.ts";
import { CUT_BYTES } from "./record-batch.ts";
import type { TopicRecord } from "./topic-record.ts";

/** Maximum length of the reason, in characters. */
const REASON_LIMIT = 1024;
/**
 * Largest dead letter that is sent unchanged, with key and headers, in bytes. Brokers accept 1,048,588 by default
 * (`max.message.bytes`), including overhead. Value, key and headers of a cut dead letter ({@link CUT_BYTES} each), with
 * our headers, are below 16 KiB.
 */
const MOST_WHOLE = 1_000_000;
/** Maximum overhead of a header, in bytes. */
const HEADER_BYTES = 10;

/** A record, or one line of it, that could not be read. */
export interface DeadLetter {
  readonly record: TopicRecord;
  /** The unreadable bytes: the record's value, or a line of it. */
  readonly value: Buffer | null;
  readonly issues: readonly DecodeIssue[];
}

/** The form in which a dead letter is sent. */
export interface SentForm {
  readonly produced: ProducedRecord;
  /** Whether value, key or headers are incomplete. */
  readonly cut: boolean;
}

/** The first form of a dead letter: unchanged, or cut if it exceeds the default limit of brokers. */
export function sentForm(topic: string, deadLetter: DeadLetter): SentForm {
  const { record, value } = deadLetter;
  const bytes = (value?.length ?? 0) + (record.key?.length ?? 0) + headerBytes(record.headers);
  const large = record.cut !== undefined || bytes > MOST_WHOLE;
  const cut = large ? cutDeadLetterRecord(topic, deadLetter) : undefined;
  if (cut !== undefined) return { produced: cut, cut: true };
  return { produced: deadLetterRecord(topic, deadLetter), cut: false };
}

/** Maximum size of a record in a request, in bytes. */
export function producedBytes({ headers, key, value }: ProducedRecord): number {
  return (value?.length ?? 0) + (key?.length ?? 0) + headerBytes([...headers]);
}

/**
 * A dead letter with its original key, value and headers, followed by our headers. With a key of more than 4 KiB it
 * goes to partition 0: the client's time to hash a key grows with the square of its length, and a key of 1 MB would
 * block this process for a minute.
 */
export function deadLetterRecord(topic: string, deadLetter: DeadLetter): ProducedRecord {
  const { key, headers } = deadLetter.record;
  const made = {
    topic,
    key: key ?? undefined,
    value: deadLetter.value,
    headers: headersOf(headers, deadLetter),
  };
  return (key?.length ?? 0) > CUT_BYTES ? { ...made, partition: 0 } : made;
}

/**
 * A dead letter that is too large for the brokers, cut to the first 4 KiB of its value. A larger key, or larger
 * headers, are left out: a part of a key is another key. `entelix-cut` has the size of the value in bytes,
 * `entelix-sha256` the hash of the whole value in hex.
 *
 * @returns `undefined` if nothing can be cut.
 */
export function cutDeadLetterRecord(
  topic: string,
  deadLetter: DeadLetter,
): ProducedRecord | undefined {
  const { record, value } = deadLetter;
  const keyFits = (record.key?.length ?? 0) <= CUT_BYTES;
  const headersFit = headerBytes(record.headers) <= CUT_BYTES;
  const small = (value?.length ?? 0) <= CUT_BYTES && keyFits && headersFit;
  if (small && record.cut === undefined) return undefined;
  const { bytes, sha256 } = record.cut ?? wholeValue(value ?? Buffer.alloc(0));
  const headers = headersOf(headersFit ? record.headers : [], deadLetter);
  setHeader(headers, "entelix-cut", String(bytes));
  setHeader(headers, "entelix-sha256", sha256);
  return {
    topic,
    key: keyFits ? (record.key ?? undefined) : undefined,
    // Copied: a view would keep the whole value in memory.
    value: value === null ? null : Buffer.from(value.subarray(0, CUT_BYTES)),
    headers,
  };
}

function wholeValue(value: Buffer) {
  return { bytes: value.length, sha256: createHash("sha256").update(value).digest("hex") };
}

function headersOf(kept: TopicRecord["headers"], { record, issues }: DeadLetter) {
  const headers: ProducedRecord["headers"] = new Map();
  for (const [name, content] of kept) {
    if (name !== null) headers.set(name, content);
  }
  const reason = issues.map(({ field, expected }) => `${field}: expected ${expected}`).join("; ");
  setHeader(headers, "entelix-reason", reason.slice(0, REASON_LIMIT));
  setHeader(headers, "entelix-field", (issues[0]?.field ?? "").slice(0, REASON_LIMIT));
  setHeader(headers, "entelix-topic", record.topic);
  setHeader(headers, "entelix-partition", String(record.partition));
  setHeader(headers, "entelix-offset", String(record.offset));
  return headers;
}

function setHeader(headers: ProducedRecord["headers"], name: string, text: string): void {
  headers.set(Buffer.from(name), Buffer.from(text));
}

function headerBytes(headers: TopicRecord["headers"]): number {
  let bytes = 0;
  for (const [name, content] of headers) {
    bytes += HEADER_BYTES + (name?.length ?? 0) + (content?.length ?? 0);
  }
  return bytes;
}
