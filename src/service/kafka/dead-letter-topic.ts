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

/** Waits for its acknowledgement by all replicas in sync. */
const ACKNOWLEDGED_BY_ALL = -1;
/** So many letters are sent at once, with so many bytes: any broker takes such a request. */
const AT_ONCE = 500;
const BYTES_AT_ONCE = 256 * 1024;
/** What brokers say of a record that they will never take: the others pass with time, or by an operator. */
export const FINAL_ERRORS = ["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD"];
/** So often a letter is sent alone without an answer, while the brokers answer others, before it is given up. */
const MOST_UNANSWERED = 3;

/** The brokers do not take this letter as it is; the message says which, why, and what became of it. */
export class DeadLetterRefusedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DeadLetterRefusedError";
  }
}

interface Waiting {
  /** Which one it is, in reports. */
  readonly name: string;
  produced: ProducedRecord;
  /** What a smaller form is made of; `undefined` where there is none. */
  letter: DeadLetter | undefined;
  cut: boolean;
  /** How often in a row it was sent alone in this form and had no answer, while the brokers answered others. */
  unanswered: number;
  readonly done: () => void;
  readonly failed: (error: Error) => void;
}

/**
 * Sends what could not be read to a topic of its own with headers that say why: unchanged, or cut where it is
 * too large.
 */
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
   * @param brokersAnswer resolves where the leaders of the topic answer a small request: an outage must cost no
   *   letter.
   * @param onError called with each failed attempt, and with a {@link DeadLetterRefusedError} for what was
   *   refused for good or given up.
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

  /** Letters that the brokers have acknowledged. */
  get sent(): number {
    return this.#sent;
  }

  /** Of them, those that the brokers have only in part: the whole was too large. */
  get cut(): number {
    return this.#cut;
  }

  /** Letters that the brokers refused, or did not answer, even when cut: they have nothing of them. */
  get lost(): number {
    return this.#lost;
  }

  /**
   * Resolves once the brokers have it; a failure is tried again for as long as it takes. What they refuse
   * for good, or leave without an answer again and again when it is sent alone, is cut, and resolves as
   * {@link lost} where that fails too: a record that no broker takes must not stop its partition.
   *
   * @throws (rejects) when this is closed before.
   */
  send(letter: DeadLetter): Promise<void> {
    if (this.#closing.signal.aborted) return Promise.reject(closed());
    const { cut, produced } = sentForm(this.#topic, letter);
    const { record, value } = letter;
    const bytes = record.cut?.bytes ?? value?.length ?? 0;
    const stored = new Promise<void>((done, failed) => {
      this.#waiting.push({
        name: `${partitionName(record)}:${record.offset} (${bytes} bytes)`,
        produced,
        letter: cut ? undefined : letter,
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
        if (batch.length === 1 && first !== undefined) {
          this.#refused(first, `was refused: ${kafkaMessage(error)}`, error);
        }
        continue;
      }
      this.#onError(error);
      if (batch.length === 1 && first !== undefined && (await this.#isUnanswered(error))) {
        // The brokers are there: no others have to go first, and this one's waits begin anew.
        if (first.unanswered === 0) backoff.reset();
        first.unanswered++;
        if (first.unanswered < MOST_UNANSWERED) await backoff.wait(signal);
        else {
          const said = `had no answer ${MOST_UNANSWERED} times: ${kafkaMessage(error)}`;
          this.#refused(first, said, error);
        }
        continue;
      }
      for (const waiting of batch) waiting.unanswered = 0;
      // It may be the leader of one partition alone that is away.
      for (const letter of this.#waiting.splice(0, batch.length)) this.#waiting.push(letter);
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

  /** Whether it is about this letter: the brokers are there for others. */
  async #isUnanswered(error: Error): Promise<boolean> {
    if (isAnswer(error) || this.#closing.signal.aborted) return false;
    return this.#brokersAnswer().then(
      () => true,
      () => false,
    );
  }

  /** The first one that waits was refused, or had no answer, sent alone. */
  #refused(first: Waiting, what: string, cause: Error): void {
    const { letter, name } = first;
    const smaller = letter && cutDeadLetterRecord(this.#topic, letter);
    if (smaller !== undefined) {
      first.produced = smaller;
      first.letter = undefined;
      first.cut = true;
      first.unanswered = 0;
      this.#onError(new DeadLetterRefusedError(`${name} ${what}; it is sent cut`, { cause }));
      return;
    }
    this.#lost++;
    this.#waiting.shift();
    this.#onError(
      new DeadLetterRefusedError(`${name} ${what}; it is lost to this topic`, { cause }),
    );
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
