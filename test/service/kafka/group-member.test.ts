import { describe, expect, it } from "vitest";
import { GroupMember } from "../../../src/service/kafka/group-member.ts";
import type {
  CommittedOffset,
  ConsumerOptions,
  KafkaConsumer,
  TopicPartitions,
} from "../../../src/service/kafka/kafka-library.ts";
import type { TopicPartition } from "../../../src/service/kafka/topic-record.ts";
import { untilHolds } from "../../e2e/support/until.ts";
import { consumer } from "./records.ts";

const POSITION = { topic: "events", partition: 0, offset: 12 };

/** The client's part, as far as membership goes: it joins by asking the hook first, as the real one does. */
class TestClient {
  readonly consumer: KafkaConsumer;
  readonly commits: CommittedOffset[][] = [];
  readonly hook: () => Promise<Buffer>;
  joins = 0;
  memberId: string | null = null;
  assignments: TopicPartitions[] | null = null;
  /** What the next join brings. */
  next: TopicPartitions[] = [];
  onCommit: () => Promise<void> = async () => {};
  onJoin: () => Promise<void> = async () => {};
  readonly #listeners = new Map<string, (payload: unknown) => void>();

  constructor(options: ConsumerOptions) {
    this.hook = options.protocolsMetadata ?? (async () => Buffer.alloc(0));
    const client = this;
    this.consumer = consumer({
      get memberId() {
        return client.memberId;
      },
      get assignments() {
        return client.assignments;
      },
      on: (event, listener) => this.#listeners.set(event, listener),
      joinGroup: () => this.join(),
      commit: async ({ offsets }) => {
        await this.onCommit();
        this.commits.push(offsets);
      },
    });
  }

  async join(): Promise<string> {
    this.joins++;
    await this.hook();
    await this.onJoin();
    this.memberId = "me";
    this.assignments = this.next;
    this.emit("consumer:group:join");
    return this.memberId;
  }

  emit(event: string, payload?: unknown) {
    this.#listeners.get(event)?.(payload);
  }
}

function start() {
  const clients: TestClient[] = [];
  const releases: { kept: string[]; member: boolean }[] = [];
  const assigned: (readonly TopicPartition[])[] = [];
  const errors: string[] = [];
  const acts = { release: async () => {} };
  const member = new GroupMember(
    (options) => {
      const client = new TestClient(options);
      clients.push(client);
      return client.consumer;
    },
    { clientId: "c", bootstrapBrokers: ["127.0.0.1:1"], groupId: "g" },
    { topics: ["events"], sessionTimeoutMs: 6000, rebalanceTimeoutMs: 8000 },
    {
      release: async (kept, member) => {
        releases.push({ kept: [...kept], member });
        await acts.release();
      },
      assigned: (partitions) => assigned.push(partitions),
      onError: (error, where) => errors.push(`${where}: ${String(error)}`),
    },
  );
  const [client] = clients;
  if (client === undefined) throw new Error("expected a client");
  return { member, client, releases, assigned, errors, acts };
}

describe("GroupMember", () => {
  it("joins, and tells what it was assigned", async () => {
    const { assigned, client, member, releases } = start();
    client.next = [{ topic: "events", partitions: [0, 2] }];
    await member.join();
    expect(releases).toEqual([{ kept: [], member: false }]);
    expect(assigned).toEqual([
      [
        { topic: "events", partition: 0 },
        { topic: "events", partition: 2 },
      ],
    ]);
  });

  it("joins again until it works, and tells why it did not", async () => {
    const { client, errors, member } = start();
    client.onJoin = async () => {
      if (client.joins < 3) throw new Error("coordinator away");
    };
    await member.join();
    expect(client.joins).toBe(3);
    expect(errors).toEqual(Array(2).fill("join: Error: coordinator away"));
  });

  it("commits as the member that it is", async () => {
    const { client, member } = start();
    expect(await member.commit([POSITION])).toBe(false);
    await member.join();
    expect(await member.commit([POSITION])).toBe(true);
    expect(client.commits).toEqual([
      [{ topic: "events", partition: 0, offset: 12n, leaderEpoch: -1 }],
    ]);
  });

  it("before a join lets go what is not kept; only last commits are sent then", async () => {
    const { acts, client, member, releases } = start();
    client.next = [{ topic: "events", partitions: [0, 1] }];
    await member.join();
    const answers: boolean[] = [];
    acts.release = async () => {
      answers.push(await member.commit([POSITION]), await member.commitLast([POSITION]));
    };
    client.assignments = [{ topic: "events", partitions: [1] }];
    await client.join();
    expect(releases.at(-1)).toEqual({ kept: ["events/1"], member: true });
    expect(answers).toEqual([false, true]);
    expect(client.commits).toHaveLength(1);
  });

  it("joins only after a commit that is on its way was answered", async () => {
    const { client, member } = start();
    await member.join();
    const order: string[] = [];
    let answer = () => {};
    client.onCommit = () => new Promise((resolve) => (answer = resolve));
    const committed = member.commit([POSITION]).then(() => order.push("committed"));
    const joined = client.join().then(() => order.push("joined"));
    await untilHolds("commit is under way", () => expect(answer.name).not.toBe(""));
    answer();
    await Promise.all([committed, joined]);
    expect(order).toEqual(["committed", "joined"]);
  });

  it("fails a commit that the group has refused, and joins again: it is not committed anew", async () => {
    const { client, member } = start();
    await member.join();
    client.onCommit = () =>
      // What the client does when its generation is over.
      new Promise((resolve, reject) => {
        void client.consumer.joinGroup({}, (error) => (error ? reject(error) : resolve()));
      });
    await expect(member.commit([POSITION])).rejects.toThrow(/the group has moved on/);
    await untilHolds("joined again", () => expect(client.joins).toBe(2));
    expect(client.commits).toEqual([]);
  });

  it("joins again when the client has given up", async () => {
    const { client, errors, member } = start();
    await member.join();
    client.emit("error", new Error("joinGroup failed 4 times"));
    await untilHolds("joined again", () => expect(client.joins).toBe(2));
    expect(errors).toEqual(["group: Error: joinGroup failed 4 times"]);
  });

  it("does not join again once it leaves", async () => {
    const { client, member } = start();
    await member.join();
    await member.leave();
    client.emit("error", new Error("too late"));
    member.rejoin();
    expect(client.joins).toBe(1);
    await expect(member.join()).rejects.toThrow(/left the group/);
  });
});
