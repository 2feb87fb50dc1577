import { createHash } from "node:crypto";
import type { DecodeIssue } from "../../dialects/dialect.ts";
import { Backoff } from "../../otel/export/retry.ts";
import {
  isProtocolError,
  type KafkaProducer,
  kafkaMessage,
  type ProducedRecord,
} from "./kafka-library.ts";
import { partitionName, type TopicRecord } from "./topic-record.ts";

/** Waits for its acknowledgement by all replicas in sync. */
const ACKNOWLEDGED_BY_ALL = -1;
/** So many letters are sent at once, with so many bytes of values: a broker takes no larger request. */
const AT_ONCE = 500;
const BYTES_AT_ONCE = 256 * 1024;
/** What brokers say of a record that they will never take: the others pass with time, or by an operator. */
export const FINAL_ERRORS = ["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD"];

/** The brokers will never take this letter as it is; the message says which, why, and what became of it. */
export class DeadLetterRefusedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DeadLetterRefusedError";
  }
}

interface Waiting {
  readonly letter: DeadLetter;
  produced: ProducedRecord;
  /** It was refused as it was. */
  cut: boolean;
  readonly done: () => void;
  readonly failed: (error: Error) => void;
}

/** Sends what could not be read to a topic of its own, unchanged, with headers that say why. */
export class DeadLetterTopic {
  readonly #producer: KafkaProducer;
  readonly #topic: string;
  readonly #onError: (error: unknown) => void;
  readonly #waiting: Waiting[] = [];
  readonly #closing = new AbortController();
  #sending: Promise<void> | undefined;
  #sent = 0;
  #cut = 0;
  #lost = 0;

  /**
   * @param onError called with each failed attempt, and with a {@link DeadLetterRefusedError} for what was
   *   refused for good.
   */
  constructor(producer: KafkaProducer, topic: string, onError: (error: unknown) => void) {
    this.#producer = producer;
    this.#topic = topic;
    this.#onError = onError;
  }

  /** Letters that the brokers have acknowledged. */
  get sent(): number {
    return this.#sent;
  }

  /** Of them, those that the brokers have only in part: they refused the whole. */
  get cut(): number {
    return this.#cut;
  }

  /** Letters that the brokers refused even when cut: they have nothing of them. */
  get lost(): number {
    return this.#lost;
  }

  /**
   * Resolves once the brokers have it; a failure is tried again for as long as it takes. What they
   * refuse for good is cut, and resolves as {@link lost} where that is refused too: a record that
   * no broker takes must not stop its partition.
   *
   * @throws (rejects) when this is closed before.
   */
  send(letter: DeadLetter): Promise<void> {
    if (this.#closing.signal.aborted) return Promise.reject(closed());
    const produced = deadLetterRecord(this.#topic, letter);
    const stored = new Promise<void>((done, failed) => {
      this.#waiting.push({ letter, produced, cut: false, done, failed });
    });
    this.#sending ??= this.#work().finally(() => {
      this.#sending = undefined;
    });
    return stored;
  }

  /** Ends the attempts; what was not acknowledged is rejected. */
  async close(): Promise<void> {
    this.#closing.abort();
    // A request that is under way ends with its connection.
    await Promise.all([this.#producer.close().catch(this.#onError), this.#sending]);
  }

  async #work(): Promise<void> {
    const backoff = new Backoff();
    const { signal } = this.#closing;
    // So many are sent one by one: one that is refused must not hold up those beside it.
    let alone = 0;
    while (this.#waiting.length > 0) {
      if (signal.aborted) {
        for (const { failed } of this.#waiting.splice(0)) failed(closed());
        return;
      }
      const batch = this.#batch(alone > 0 ? 1 : AT_ONCE);
      const messages = batch.map(({ produced }) => produced);
      const error = await this.#attempt(messages);
      if (error === undefined) {
        backoff.reset();
        alone = Math.max(0, alone - 1);
        this.#sent += batch.length;
        this.#waiting.splice(0, batch.length);
        for (const { cut, done } of batch) {
          if (cut) this.#cut++;
          done();
        }
        continue;
      }
      alone = Math.max(alone, batch.length);
      const [first] = batch;
      if (FINAL_ERRORS.some((name) => isProtocolError(error, name))) {
        if (batch.length === 1 && first !== undefined) this.#refused(first, error);
        continue;
      }
      this.#onError(error);
      // It may be the leader of one partition alone that is away.
      this.#waiting.push(...this.#waiting.splice(0, batch.length));
      await backoff.wait(signal);
    }
  }

  /** Resolves with what went wrong. */
  async #attempt(messages: ProducedRecord[]): Promise<Error | undefined> {
    try {
      await this.#producer.send({ messages, acks: ACKNOWLEDGED_BY_ALL });
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** The first one that waits was refused, sent alone. */
  #refused(first: Waiting, cause: Error): void {
    const { record, value } = first.letter;
    const which = `${partitionName(record)}:${record.offset} (${value?.length ?? 0} bytes)`;
    const what = `${which} was refused: ${kafkaMessage(cause)}`;
    const smaller = first.cut ? undefined : cutDeadLetterRecord(this.#topic, first.letter);
    if (smaller !== undefined) {
      first.produced = smaller;
      first.cut = true;
      this.#onError(new DeadLetterRefusedError(`${what}; it is sent cut`, { cause }));
      return;
    }
    this.#lost++;
    this.#waiting.shift();
    this.#onError(new DeadLetterRefusedError(`${what}; it is lost to this topic`, { cause }));
    first.done();
  }

  #batch(most: number): Waiting[] {
    const batch: Waiting[] = [];
    let bytes = 0;
    for (const waiting of this.#waiting) {
      bytes += waiting.produced.value?.length ?? 0;
      if (batch.length > 0 && (bytes > BYTES_AT_ONCE || batch.length >= most)) break;
      batch.push(waiting);
    }
    return batch;
  }
}

function closed(): Error {
  return new Error("closed before the dead letter was acknowledged");
}

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
 * A letter that the brokers refused, made small: the first 4 KiB of its value. A key, or headers it
 * came with, that are larger are left out: a part of a key is another key. `entelix-cut` has the bytes
 * that the value had, `entelix-sha256` the hash of all of it, in hex.
 *
 * @returns `undefined` where there is nothing to make smaller.
 */
export function cutDeadLetterRecord(topic: string, letter: DeadLetter): ProducedRecord | undefined {
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
