import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  cutDeadLetterRecord,
  deadLetterRecord,
  sentForm,
} from "../../../src/service/kafka/dead-letter-record.ts";
import {
  DeadLetterRefusedError,
  DeadLetterTopic,
} from "../../../src/service/kafka/dead-letter-topic.ts";
import type { KafkaProducer, ProducedRecord } from "../../../src/service/kafka/kafka-library.ts";
import { protocolError, record } from "./records.ts";

const ISSUES = [
  { field: "run_id", expected: "non-empty text" },
  { field: "type", expected: "text" },
];

function texts(headers: ProducedRecord["headers"]) {
  return [...headers].map(([name, text]) => [String(name), text && String(text)]);
}

function producer(send: KafkaProducer["send"]) {
  const closed: string[] = [];
  const made: KafkaProducer = {
    send,
    metadata: () => Promise.reject(new Error("not expected")),
    close: async () => void closed.push("closed"),
  };
  return { made, closed };
}

/** Brokers that answer a small request. */
const here = async () => {};

describe("deadLetterRecord", () => {
  it("keeps key, value and headers, and says why and from where", () => {
    const value = Buffer.from([0xff, 0x00]);
    const one = record({ value, headers: [[Buffer.from("mine"), null]] });
    const { headers, ...rest } = deadLetterRecord("dead", { record: one, value, issues: ISSUES });
    expect(rest).toEqual({ topic: "dead", key: Buffer.from("run-1"), value });
    expect(texts(headers)).toEqual([
      ["mine", null],
      ["entelix-reason", "run_id: expected non-empty text; type: expected text"],
      ["entelix-field", "run_id"],
      ["entelix-topic", "events"],
      ["entelix-partition", "0"],
      ["entelix-offset", "7"],
    ]);
  });

  it("names the partition of a long key, for the client takes too long to hash it", () => {
    const of = (bytes: number) => {
      const one = record({ key: Buffer.alloc(bytes) });
      return deadLetterRecord("dead", { record: one, value: null, issues: ISSUES });
    };
    expect(of(4097)).toMatchObject({ key: Buffer.alloc(4097), partition: 0 });
    expect(of(4096)).not.toHaveProperty("partition");
  });

  it("keeps a record without key and value as it is, and cuts a long reason", () => {
    const one = record({ key: null, value: null });
    const issues = [{ field: "type", expected: "x".repeat(5000) }];
    const letter = deadLetterRecord("dead", { record: one, value: null, issues });
    expect(letter).toMatchObject({ key: undefined, value: null });
    expect(texts(letter.headers)[0]?.[1]).toHaveLength(1024);
  });
});

describe("cutDeadLetterRecord", () => {
  it("keeps the first 4 KiB, and says how much there was and its hash", () => {
    const value = Buffer.alloc(5000, "abc");
    const one = record({ value, headers: [[Buffer.from("mine"), Buffer.from("x")]] });
    const cut = cutDeadLetterRecord("dead", { record: one, value, issues: ISSUES });
    expect(cut?.key).toEqual(Buffer.from("run-1"));
    expect(cut?.value).toEqual(Buffer.alloc(4096, "abc"));
    expect(texts(cut?.headers ?? new Map())).toEqual([
      ["mine", "x"],
      ["entelix-reason", "run_id: expected non-empty text; type: expected text"],
      ["entelix-field", "run_id"],
      ["entelix-topic", "events"],
      ["entelix-partition", "0"],
      ["entelix-offset", "7"],
      ["entelix-cut", "5000"],
      ["entelix-sha256", createHash("sha256").update(value).digest("hex")],
    ]);
  });

  it("leaves out a key and headers that are too large", () => {
    const large = Buffer.alloc(4097);
    const one = record({ key: large, value: null, headers: [[Buffer.from("mine"), large]] });
    const cut = cutDeadLetterRecord("dead", { record: one, value: null, issues: ISSUES });
    expect(cut).toMatchObject({ key: undefined, value: null });
    const headers = new Map(
      texts(cut?.headers ?? new Map()).map(([name, text]) => [name, text] as const),
    );
    expect(headers.has("mine")).toBe(false);
    expect(headers.get("entelix-cut")).toBe("0");
  });

  it("makes nothing where nothing can be smaller", () => {
    const value = Buffer.alloc(4096);
    const letter = { record: record({ value }), value, issues: ISSUES };
    expect(cutDeadLetterRecord("dead", letter)).toBeUndefined();
  });
});

describe("sentForm", () => {
  const large = Buffer.alloc(600_000);

  it("is the letter unchanged up to 1,000,000 bytes with key and headers", () => {
    const value = Buffer.alloc(1_000_000 - 5);
    const letter = { record: record({ key: Buffer.from("run-1"), value }), value, issues: ISSUES };
    const { cut, produced } = sentForm("dead", letter);
    expect(cut).toBe(false);
    expect(produced.value).toBe(value);
  });

  it.each([
    ["value", { value: Buffer.alloc(1_000_001), key: null }],
    ["key", { value: large, key: large }],
    ["headers", { value: large, headers: [[Buffer.from("mine"), large] as const] }],
    ["number of headers", { headers: Array(100_000).fill([Buffer.from("h"), null]) }],
  ])("is cut where its %s is larger", (_, fields) => {
    const one = record(fields);
    const { cut, produced } = sentForm("dead", { record: one, value: one.value, issues: ISSUES });
    expect(cut).toBe(true);
    expect(produced.value?.length ?? 0).toBeLessThanOrEqual(4096);
    expect(produced.key?.length ?? 0).toBeLessThanOrEqual(4096);
    expect(produced.headers.size).toBe(7);
  });

  it("says of a record that was cut before what it was", () => {
    const cut = { bytes: 300_000_000, sha256: "abc", reason: "at most 16 MiB" };
    const one = record({ value: Buffer.from("beginning"), cut });
    const sent = sentForm("dead", { record: one, value: one.value, issues: ISSUES });
    expect(sent.cut).toBe(true);
    const said = new Map(texts(sent.produced.headers).map(([name, text]) => [name, text] as const));
    expect(said.get("entelix-cut")).toBe("300000000");
    expect(said.get("entelix-sha256")).toBe("abc");
  });
});

describe("DeadLetterTopic", () => {
  it("resolves when the brokers have it, having tried again as often as it took", async () => {
    const batches: number[] = [];
    const troubles: string[] = [];
    const { made } = producer(async ({ acks, messages }) => {
      expect(acks).toBe(-1);
      batches.push(messages.length);
      if (batches.length < 3) throw new Error("away");
    });
    const letters = new DeadLetterTopic(made, "dead", here, (error) =>
      troubles.push(String(error)),
    );
    const letter = { record: record(), value: record().value, issues: ISSUES };
    await Promise.all([letters.send(letter), letters.send(letter)]);
    expect(batches).toEqual([1, 1, 1, 1]);
    expect(troubles).toEqual(["Error: away", "Error: away"]);
    expect(letters.sent).toBe(2);
  });

  it("sends many at once, but no more than a request may have", async () => {
    const batches: number[] = [];
    const { made } = producer(async ({ messages }) => void batches.push(messages.length));
    const letters = new DeadLetterTopic(made, "dead", here, () => {});
    const send = (bytes: number) =>
      letters.send({ record: record(), value: Buffer.alloc(bytes), issues: ISSUES });
    await Promise.all([send(1), send(1), send(1), send(200_000), send(100_000), send(900_000)]);
    expect(batches).toEqual([1, 3, 1, 1]);
    expect(letters.sent).toBe(6);
  });

  it("rejects what was not acknowledged when it is closed, and what comes after", async () => {
    const { made, closed } = producer(() => Promise.reject(new Error("away")));
    const letters = new DeadLetterTopic(made, "dead", here, () => {});
    const letter = { record: record(), value: null, issues: ISSUES };
    const sent = letters.send(letter);
    const failed = expect(sent).rejects.toThrow(/closed before/);
    await letters.close();
    await failed;
    await expect(letters.send(letter)).rejects.toThrow(/closed before/);
    expect(closed).toEqual(["closed"]);
    expect(letters.sent).toBe(0);
  });

  /** Brokers that take no value longer than that, and none of a batch that has one. */
  function strict(most: number, refusal = "MESSAGE_TOO_LARGE") {
    const requests: number[][] = [];
    const stored: ProducedRecord[] = [];
    const { made } = producer(async ({ messages }) => {
      const sizes = messages.map(({ value }) => value?.length ?? 0);
      requests.push(sizes);
      if (sizes.some((size) => size > most)) throw protocolError(refusal);
      stored.push(...messages);
    });
    const troubles: unknown[] = [];
    const letters = new DeadLetterTopic(made, "dead", here, (error) => troubles.push(error));
    const send = (bytes: number, offset: number) => {
      const value = Buffer.alloc(bytes, "v");
      return letters.send({ record: record({ offset, value }), value, issues: ISSUES });
    };
    return { letters, requests, stored, troubles, send };
  }

  it.each(["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD"])(
    "sends what is refused by %s alone, then cut; those beside it go whole, once",
    async (refusal) => {
      const { letters, requests, stored, troubles, send } = strict(5000, refusal);
      await Promise.all([send(1, 1), send(2, 2), send(6000, 3), send(3, 4), send(4, 5)]);
      await send(5, 6);
      expect(requests).toEqual([[1], [2, 6000, 3, 4], [2], [6000], [4096], [3], [4], [5]]);
      expect(stored.map(({ value }) => value?.length)).toEqual([1, 2, 4096, 3, 4, 5]);
      const cut = new Map(texts(stored[2]?.headers ?? new Map()).map(([n, t]) => [n, t] as const));
      expect(cut.get("entelix-cut")).toBe("6000");
      expect(cut.get("entelix-offset")).toBe("3");
      const whole = createHash("sha256").update(Buffer.alloc(6000, "v")).digest("hex");
      expect(cut.get("entelix-sha256")).toBe(whole);
      expect(troubles).toEqual([
        new DeadLetterRefusedError(
          `events/0:3 (6000 bytes) was refused: ${refusal}; it is cut and sent again`,
        ),
      ]);
      expect([letters.sent, letters.cut, letters.lost]).toEqual([6, 1, 0]);
    },
  );

  it("passes over what is refused even when cut, and what can't be cut", async () => {
    const { letters, requests, stored, troubles, send } = strict(100);
    await Promise.all([send(9000, 1), send(200, 2), send(3, 3)]);
    expect(requests).toEqual([[9000], [4096], [200], [3]]);
    expect(stored.map(({ value }) => value?.length)).toEqual([3]);
    expect(troubles.map(String)).toEqual([
      "DeadLetterRefusedError: events/0:1 (9000 bytes) was refused: MESSAGE_TOO_LARGE; it is cut and sent again",
      "DeadLetterRefusedError: events/0:1 (9000 bytes) was refused: MESSAGE_TOO_LARGE; it was dropped",
      "DeadLetterRefusedError: events/0:2 (200 bytes) was refused: MESSAGE_TOO_LARGE; it was dropped",
    ]);
    expect([letters.sent, letters.cut, letters.lost]).toEqual([1, 0, 2]);
  });

  it("lets others go before one that fails alone, and keeps that whole", async () => {
    const stored: (number | undefined)[] = [];
    let failures = 0;
    const { made } = producer(async ({ messages }) => {
      if (messages.some(({ value }) => value?.length === 9000) && failures++ < 3) {
        throw protocolError("LEADER_NOT_AVAILABLE");
      }
      stored.push(...messages.map(({ value }) => value?.length));
    });
    const troubles: unknown[] = [];
    const letters = new DeadLetterTopic(made, "dead", here, (error) => troubles.push(error));
    const send = (bytes: number) =>
      letters.send({ record: record(), value: Buffer.alloc(bytes), issues: ISSUES });
    await Promise.all([send(9000), send(1)]);
    expect(stored).toEqual([1, 9000]);
    expect(troubles).toHaveLength(3);
    expect([letters.sent, letters.cut, letters.lost]).toEqual([2, 0, 0]);
  });

  /** Brokers that close the connection on values that are longer, and answer others. */
  function closing(most: number, brokersAnswer: () => Promise<unknown> = here) {
    const requests: number[][] = [];
    const { made } = producer(async ({ messages }) => {
      const sizes = messages.map(({ value }) => value?.length ?? 0);
      requests.push(sizes);
      if (sizes.some((size) => size > most)) throw new Error("Connection closed");
    });
    const told: unknown[] = [];
    const letters = new DeadLetterTopic(made, "dead", brokersAnswer, (error) => told.push(error));
    const send = (bytes: number, offset: number) => {
      const value = Buffer.alloc(bytes, "v");
      return letters.send({ record: record({ offset, value }), value, issues: ISSUES });
    };
    const losses = () =>
      told.filter((error) => error instanceof DeadLetterRefusedError).map(String);
    return { letters, losses, requests, send };
  }

  it("gives up what had no answer three times, sent alone: whole, then cut; those beside it go", async () => {
    const { letters, losses, requests, send } = closing(3);
    await Promise.all([send(1, 1), send(9000, 2), send(2, 3), send(100, 4)]);
    expect(losses().toSorted()).toEqual([
      "DeadLetterRefusedError: events/0:2 (9000 bytes) had no answer 3 times: Connection closed; it is cut and sent again",
      "DeadLetterRefusedError: events/0:2 (9000 bytes) had no answer 3 times: Connection closed; it was dropped",
      "DeadLetterRefusedError: events/0:4 (100 bytes) had no answer 3 times: Connection closed; it was dropped",
    ]);
    const alone = (bytes: number) =>
      requests.filter(([one, more]) => one === bytes && more === undefined);
    expect([alone(9000), alone(4096), alone(100)].map(({ length }) => length)).toEqual([3, 3, 3]);
    expect([letters.sent, letters.cut, letters.lost]).toEqual([2, 0, 2]);
  }, 30_000);

  it("keeps what had no answer once it is taken cut", async () => {
    const { letters, send } = closing(5000);
    await send(9000, 1);
    expect([letters.sent, letters.cut, letters.lost]).toEqual([1, 1, 0]);
  }, 30_000);

  it("loses nothing in an outage, however long it is: then no request has an answer", async () => {
    let failures = 0;
    const brokersAnswer = () =>
      failures > 6 ? Promise.resolve() : Promise.reject(new Error("no route"));
    const stored: (number | undefined)[] = [];
    const { made } = producer(async ({ messages }) => {
      if (failures++ < 6) throw new Error("Connection closed");
      stored.push(...messages.map(({ value }) => value?.length));
    });
    const letters = new DeadLetterTopic(made, "dead", brokersAnswer, () => {});
    const value = Buffer.alloc(9000);
    await letters.send({ record: record({ value }), value, issues: ISSUES });
    expect(stored).toEqual([9000]);
    expect([letters.sent, letters.cut, letters.lost]).toEqual([1, 0, 0]);
  }, 60_000);

  it("gives up nothing that has an answer which may pass", async () => {
    let answers = 0;
    const { made } = producer(async () => {
      if (answers++ < 5) throw protocolError("NOT_ENOUGH_REPLICAS");
    });
    const letters = new DeadLetterTopic(made, "dead", here, () => {});
    await letters.send({ record: record(), value: null, issues: ISSUES });
    expect([letters.sent, letters.lost]).toEqual([1, 0]);
  }, 30_000);

  it("counts keys and headers in what it sends at once", async () => {
    const batches: number[] = [];
    const { made } = producer(async ({ messages }) => void batches.push(messages.length));
    const letters = new DeadLetterTopic(made, "dead", here, () => {});
    const headers = [[Buffer.from("h"), Buffer.alloc(100_000)]] as const;
    const send = () =>
      letters.send({
        record: record({ headers, key: Buffer.alloc(100_000) }),
        value: null,
        issues: ISSUES,
      });
    await Promise.all([send(), send(), send(), send()]);
    expect(batches).toEqual([1, 1, 1, 1]);
  });
});
