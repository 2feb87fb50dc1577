import { createHash } from "node:crypto";
import type { DecodeIssue } from "../../replay/door.ts";
import type { ProducedRecord } from "./kafka-library.ts";
import { CUT_BYTES } from "./record-batch.ts";
import type { TopicRecord } from "./topic-record.ts";

/** More text than that about what is wrong does not go along, in characters. */
const REASON_LIMIT = 1024;
/**
 * Largest letter that is sent unchanged, with key and headers, in bytes: brokers take 1,048,588 with what is
 * around it, if `max.message.bytes` is as they come. What a cut letter keeps of value, key and headers
 * ({@link CUT_BYTES} each) is below 16 KiB together with ours.
 */
const MOST_WHOLE = 1_000_000;
/** What a header takes on the wire besides its bytes, at most. */
const HEADER_BYTES = 10;

/** A record, or one line of it, that could not be read. */
export interface DeadLetter {
  readonly record: TopicRecord;
  /** What could not be read: the record's value, or a line of it. */
  readonly value: Buffer | null;
  readonly issues: readonly DecodeIssue[];
}

/** A letter as it is sent. */
export interface SentForm {
  readonly produced: ProducedRecord;
  /** Value, key or headers are there in part. */
  readonly cut: boolean;
}

/** The form in which a letter is sent first: unchanged, or cut where no usual broker would take it. */
export function sentForm(topic: string, letter: DeadLetter): SentForm {
  const { record, value } = letter;
  const bytes = (value?.length ?? 0) + (record.key?.length ?? 0) + headerBytes(record.headers);
  const large = record.cut !== undefined || bytes > MOST_WHOLE;
  const cut = large ? cutDeadLetterRecord(topic, letter) : undefined;
  if (cut !== undefined) return { produced: cut, cut: true };
  return { produced: deadLetterRecord(topic, letter), cut: false };
}

/** What a record takes in a request, in bytes: as much as that, or less. */
export function producedBytes({ headers, key, value }: ProducedRecord): number {
  return (value?.length ?? 0) + (key?.length ?? 0) + headerBytes([...headers]);
}

/**
 * A letter as it is produced: key, value and headers as they were, and ours behind them. One with a key
 * of more than 4 KiB goes to partition 0: the time the client takes to hash a key grows with the square
 * of its length, and a key of 1 MB would stop this process for a minute.
 */
export function deadLetterRecord(topic: string, letter: DeadLetter): ProducedRecord {
  const { key, headers } = letter.record;
  const made = {
    topic,
    key: key ?? undefined,
    value: letter.value,
    headers: said(headers, letter),
  };
  return (key?.length ?? 0) > CUT_BYTES ? { ...made, partition: 0 } : made;
}

/**
 * A letter that is too large for the brokers, made small: the first 4 KiB of its value. A key, or headers it
 * came with, that are larger are left out: a part of a key is another key. `entelix-cut` has the bytes
 * that the value had, `entelix-sha256` the hash of all of it, in hex.
 *
 * @returns `undefined` where there is nothing to make smaller.
 */
export function cutDeadLetterRecord(topic: string, letter: DeadLetter): ProducedRecord | undefined {
  const { record, value } = letter;
  const keyFits = (record.key?.length ?? 0) <= CUT_BYTES;
  const headersFit = headerBytes(record.headers) <= CUT_BYTES;
  const small = (value?.length ?? 0) <= CUT_BYTES && keyFits && headersFit;
  if (small && record.cut === undefined) return undefined;
  const { bytes, sha256 } = record.cut ?? wholeValue(value ?? Buffer.alloc(0));
  const headers = said(headersFit ? record.headers : [], letter);
  say(headers, "entelix-cut", String(bytes));
  say(headers, "entelix-sha256", sha256);
  return {
    topic,
    key: keyFits ? (record.key ?? undefined) : undefined,
    // Copied: a part would keep all of it in memory.
    value: value === null ? null : Buffer.from(value.subarray(0, CUT_BYTES)),
    headers,
  };
}

function wholeValue(value: Buffer) {
  return { bytes: value.length, sha256: createHash("sha256").update(value).digest("hex") };
}

function said(kept: TopicRecord["headers"], { record, issues }: DeadLetter) {
  const headers: ProducedRecord["headers"] = new Map();
  for (const [name, content] of kept) {
    if (name !== null) headers.set(name, content);
  }
  const reason = issues.map(({ field, expected }) => `${field}: expected ${expected}`).join("; ");
  say(headers, "entelix-reason", reason.slice(0, REASON_LIMIT));
  say(headers, "entelix-field", (issues[0]?.field ?? "").slice(0, REASON_LIMIT));
  say(headers, "entelix-topic", record.topic);
  say(headers, "entelix-partition", String(record.partition));
  say(headers, "entelix-offset", String(record.offset));
  return headers;
}

function say(headers: ProducedRecord["headers"], name: string, text: string): void {
  headers.set(Buffer.from(name), Buffer.from(text));
}

function headerBytes(headers: TopicRecord["headers"]): number {
  let bytes = 0;
  for (const [name, content] of headers) {
    bytes += HEADER_BYTES + (name?.length ?? 0) + (content?.length ?? 0);
  }
  return bytes;
}
