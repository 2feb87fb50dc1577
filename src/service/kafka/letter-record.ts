import { createHash } from "node:crypto";
import type { DecodeIssue } from "../../dialects/dialect.ts";
import type { ProducedRecord } from "./kafka-library.ts";
import type { TopicRecord } from "./topic-record.ts";

/** More text than that about what is wrong does not go along, in characters. */
const REASON_LIMIT = 1024;
/**
 * What a cut letter keeps at most of the value, of the key and of the headers that it came with, in
 * bytes each: together with ours it is below 16 KiB, which any usual `max.message.bytes` takes.
 */
const CUT_BYTES = 4096;

/** A record, or one line of it, that could not be read. */
export interface DeadLetter {
  readonly record: TopicRecord;
  /** What could not be read: the record's value, or a line of it. */
  readonly value: Buffer | null;
  readonly issues: readonly DecodeIssue[];
}

/**
 * A letter as it is produced: key, value and headers as they were, and ours behind them. One with a key
 * of more than 4 KiB goes to partition 0: the time the client takes to hash a key grows with the square
 * of its length, and a key of 1 MB would stop this process for a minute.
 */
export function letterRecord(topic: string, letter: DeadLetter): ProducedRecord {
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
 * A letter that the brokers refused, made small: the first 4 KiB of its value. A key, or headers it
 * came with, that are larger are left out: a part of a key is another key. `entelix-cut` has the bytes
 * that the value had, `entelix-sha256` the hash of all of it, in hex.
 *
 * @returns `undefined` where there is nothing to make smaller.
 */
export function cutLetterRecord(topic: string, letter: DeadLetter): ProducedRecord | undefined {
  const { record, value } = letter;
  const whole = value ?? Buffer.alloc(0);
  const keyFits = (record.key?.length ?? 0) <= CUT_BYTES;
  const headersFit = headerBytes(record.headers) <= CUT_BYTES;
  if (whole.length <= CUT_BYTES && keyFits && headersFit) return undefined;
  const headers = said(headersFit ? record.headers : [], letter);
  say(headers, "entelix-cut", String(whole.length));
  say(headers, "entelix-sha256", createHash("sha256").update(whole).digest("hex"));
  return {
    topic,
    key: keyFits ? (record.key ?? undefined) : undefined,
    value: value === null ? null : value.subarray(0, CUT_BYTES),
    headers,
  };
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
  for (const [name, content] of headers) bytes += (name?.length ?? 0) + (content?.length ?? 0);
  return bytes;
}
