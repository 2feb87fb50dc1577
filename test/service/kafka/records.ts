import type { KafkaConsumer } from "../../../src/service/kafka/kafka-library.ts";
import type { TopicRecord } from "../../../src/service/kafka/topic-record.ts";

/** A record of `events/0`. */
export function record(fields: Partial<TopicRecord> = {}): TopicRecord {
  return {
    topic: "events",
    partition: 0,
    offset: 7,
    timestampMs: 1_700_000_000_000,
    key: Buffer.from("run-1"),
    value: Buffer.from("{}"),
    headers: [],
    ...fields,
  };
}

/** A client of which a test uses only what it gives. */
export function consumer(parts: Partial<KafkaConsumer>): KafkaConsumer {
  const unused = () => Promise.reject(new Error("not expected to be called"));
  const made: KafkaConsumer = {
    memberId: null,
    generationId: 0,
    assignments: null,
    topics: { track: () => true, untrack: () => true },
    joinGroup: unused,
    leaveGroup: unused,
    commit: unused,
    listCommittedOffsets: unused,
    listOffsets: unused,
    fetch: unused,
    metadata: unused,
    close: () => Promise.resolve(),
    on: () => undefined,
  };
  // Getters stay such.
  return Object.defineProperties(made, Object.getOwnPropertyDescriptors(parts));
}

/** An error of the protocol as the client throws it: inside another one. */
export function protocolError(apiId: string): Error {
  const inner = Object.assign(new Error(`${apiId} happened`), { apiId });
  return new AggregateError([inner], "Received response with error");
}

/** For a service without a dead letter topic. */
export class NoProducer {
  send = () => Promise.reject(new Error("not expected"));
  metadata = () => Promise.reject(new Error("not expected"));
  close = async () => {};
}
