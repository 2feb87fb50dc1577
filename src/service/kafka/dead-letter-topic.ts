import { Backoff } from "../../bridge/door.ts";
import {
  cutDeadLetterRecord,
  type DeadLetter,
  producedBytes,
  sentForm,
} from "./dead-letter-record.ts";
import {
  isAnswer,
  isProtocolError,
  type KafkaProducer,
  kafkaMessage,
  type ProducedRecord,
} from "./kafka-library.ts";
import { partitionName } from "./topic-record.ts";

/** Requires an acknowledgement of all in-sync replicas. */
const ACKNOWLEDGED_BY_ALL = -1;
/** Maximum number and size of dead letters in one request. Any broker accepts such a request. */
const AT_ONCE = 500;
const BYTES_AT_ONCE = 256 * 1024;
/** Errors by which brokers reject a record permanently. Other errors end with time, or by an operator. */
export const FINAL_ERRORS = ["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD"];
/** Attempts without an answer for one dead letter, while the brokers answer other requests, before it is dropped. */
const MOST_UNANSWERED = 3;

/** The brokers reject this dead letter in its form. The message names it, the reason, and the result. */
export class DeadLetterRefusedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DeadLetterRefusedError";
  }
}

interface Waiting {
  /** Name in reports. */
  readonly name: string;
  produced: ProducedRecord;
  /** Input for a smaller form. `undefined` if there is none. */
  deadLetter: DeadLetter | undefined;
  cut: boolean;
  /** Number of consecutive attempts of this form alone without an answer, while the brokers answered other requests. */
  unanswered: number;
  readonly done: () => void;
  readonly failed: (error: Error) => void;
}

/** Sends unreadable records to a topic of their own, with headers that give the reason. Large ones are cut. */
export class DeadLetterTopic {
  readonly #producer: KafkaProducer;
  readonly #topic: string;
  readonly #brokersAnswer: () => Promise<unknown>;
  readonly #onError: (error: unknown) => void;
  readonly #waiting: Waiting[] = [];
  readonly #closing = new AbortController();
  #sending: Promise<void> | undefined;
  #sent = 0;
  #cut = 0;
  #lost = 0;

  /**
   * @param brokersAnswer resolves if the topic's leaders answer a small request. An outage must not drop a dead letter.
   * @param onError called with each failed attempt, and with a {@link DeadLetterRefusedError} for dead letters that
   *   were rejected or dropped.
   */
  constructor(
    producer: KafkaProducer,
    topic: string,
    brokersAnswer: () => Promise<unknown>,
    onError: (error: unknown) => void,
  ) {
    this.#producer = producer;
    this.#topic = topic;
    this.#brokersAnswer = brokersAnswer;
    this.#onError = onError;
  }

  /** Number of acknowledged dead letters. */
  get sent(): number {
    return this.#sent;
  }

  /** Number of acknowledged dead letters that were cut because they were too large. */
  get cut(): number {
    return this.#cut;
  }

  /** Number of dead letters that were dropped: the brokers rejected them, or did not answer, even when cut. */
  get lost(): number {
    return this.#lost;
  }

  /**
   * Resolves when the brokers have the dead letter. Failures are retried for as long as needed. A dead letter that the
   * brokers reject, or repeatedly do not answer when it is sent alone, is cut. If that fails too, it counts as {@link
   * lost} and resolves: a record that no broker accepts must not block its partition.
   *
   * @throws (rejects) if this is closed before.
   */
  send(deadLetter: DeadLetter): Promise<void> {
    if (this.#closing.signal.aborted) return Promise.reject(closed());
    const { cut, produced } = sentForm(this.#topic, deadLetter);
    const { record, value } = deadLetter;
    const bytes = record.cut?.bytes ?? value?.length ?? 0;
    const stored = new Promise<void>((done, failed) => {
      this.#waiting.push({
        name: `${partitionName(record)}:${record.offset} (${bytes} bytes)`,
        produced,
        deadLetter: cut ? undefined : deadLetter,
        cut,
        unanswered: 0,
        done,
        failed,
      });
    });
    this.#sending ??= this.#work().finally(() => {
      this.#sending = undefined;
    });
    return stored;
  }

  /** Stops the attempts. Dead letters without an acknowledgement are rejected. */
  async close(): Promise<void> {
    this.#closing.abort();
    // A pending request ends with its connection.
    await Promise.all([this.#producer.close().catch(this.#onError), this.#sending]);
  }

  async #work(): Promise<void> {
    const backoff = new Backoff();
    const { signal } = this.#closing;
    // Number of dead letters to send alone: a rejected one must not hold up the others.
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
        if (batch.length === 1 && first !== undefined) {
          this.#refused(first, `was refused: ${kafkaMessage(error)}`, error);
        }
        continue;
      }
      this.#onError(error);
      if (batch.length === 1 && first !== undefined && (await this.#isUnanswered(error))) {
        // The brokers are available, so no other dead letter needs to go first, and the delays start over.
        if (first.unanswered === 0) backoff.reset();
        first.unanswered++;
        if (first.unanswered < MOST_UNANSWERED) await backoff.wait(signal);
        else {
          const problem = `had no answer ${MOST_UNANSWERED} times: ${kafkaMessage(error)}`;
          this.#refused(first, problem, error);
        }
        continue;
      }
      for (const waiting of batch) waiting.unanswered = 0;
      // Perhaps only the leader of one partition is unavailable.
      for (const deadLetter of this.#waiting.splice(0, batch.length))
        this.#waiting.push(deadLetter);
      await backoff.wait(signal);
    }
  }

  /** Resolves with the error, if any. */
  async #attempt(messages: ProducedRecord[]): Promise<Error | undefined> {
    try {
      await this.#producer.send({ messages, acks: ACKNOWLEDGED_BY_ALL });
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Whether the failure concerns only this dead letter: the brokers answer other requests. */
  async #isUnanswered(error: Error): Promise<boolean> {
    if (isAnswer(error) || this.#closing.signal.aborted) return false;
    return this.#brokersAnswer().then(
      () => true,
      () => false,
    );
  }

  /** The first dead letter was rejected, or had no answer, when sent alone. */
  #refused(first: Waiting, what: string, cause: Error): void {
    const { deadLetter, name } = first;
    const smaller = deadLetter && cutDeadLetterRecord(this.#topic, deadLetter);
    if (smaller !== undefined) {
      first.produced = smaller;
      first.deadLetter = undefined;
      first.cut = true;
      first.unanswered = 0;
      this.#onError(
        new DeadLetterRefusedError(`${name} ${what}; it is cut and sent again`, { cause }),
      );
      return;
    }
    this.#lost++;
    this.#waiting.shift();
    this.#onError(new DeadLetterRefusedError(`${name} ${what}; it was dropped`, { cause }));
    first.done();
  }

  #batch(most: number): Waiting[] {
    const batch: Waiting[] = [];
    let bytes = 0;
    for (const waiting of this.#waiting) {
      bytes += producedBytes(waiting.produced);
      if (batch.length > 0 && (bytes > BYTES_AT_ONCE || batch.length >= most)) break;
      batch.push(waiting);
    }
    return batch;
  }
}

function closed(): Error {
  return new Error("closed before the dead letter was acknowledged");
}
