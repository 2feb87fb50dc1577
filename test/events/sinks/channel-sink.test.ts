import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AgentError } from "../../../src/events/errors/agent-error.ts";
import { classifyFailure } from "../../../src/events/errors/classify.ts";
import { ChannelSink } from "../../../src/events/sinks/channel-sink.ts";
import { runs } from "../../support/runs.ts";
import { envelopeNo, numbered, numberOf, settle, started } from "./sample-events.ts";

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeAll(() => process.on("unhandledRejection", note));
afterAll(async () => {
  await settle();
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

/** Notes how a send or a read ended, in a list shared with others. */
function watch(outcomes: string[], name: string, sent: unknown): void {
  Promise.resolve(sent).then(
    () => outcomes.push(`${name} ok`),
    (error: unknown) => outcomes.push(`${name} ${classifyFailure(error).type}`),
  );
}

describe("ChannelSink", () => {
  it("takes events synchronously while there is room, and keeps event and envelope", async () => {
    const sink = new ChannelSink({ capacity: 2 });
    const envelope = envelopeNo(1);
    expect(sink.send(started, envelope)).toBeUndefined();
    expect(sink.send(numbered(2))).toBeUndefined();
    expect(sink.buffered).toBe(2);
    const first = await sink.receiver.next();
    expect(first.value?.event).toBe(started);
    expect(first.value?.envelope).toBe(envelope);
    expect(await sink.receiver.next()).toEqual({ value: { event: numbered(2) }, done: false });
  });

  it("makes senders wait while it is full, and lets them go in order", async () => {
    const sink = new ChannelSink({ capacity: 1 });
    const outcomes: string[] = [];
    for (const n of [1, 2, 3]) watch(outcomes, `send ${n}`, sink.send(numbered(n)));
    await settle();
    expect(outcomes).toEqual(["send 1 ok"]);
    expect(sink.waiting).toBe(2);
    await sink.receiver.next();
    await settle();
    expect(outcomes).toEqual(["send 1 ok", "send 2 ok"]);
    await sink.receiver.next();
    await settle();
    expect(outcomes).toEqual(["send 1 ok", "send 2 ok", "send 3 ok"]);
    expect(sink.waiting).toBe(0);
  });

  it("hands an event straight to a receiver that waits", async () => {
    const sink = new ChannelSink({ capacity: 1 });
    const reads = [sink.receiver.next(), sink.receiver.next()];
    expect(sink.send(numbered(1))).toBeUndefined();
    expect(sink.send(numbered(2))).toBeUndefined();
    expect(sink.buffered).toBe(0);
    const results = await Promise.all(reads);
    expect(results.map((result) => result.value?.event)).toEqual([numbered(1), numbered(2)]);
  });

  it("rejects waiting and later sends once the receiver is closed, and can be read out", async () => {
    const sink = new ChannelSink({ capacity: 1 });
    const outcomes: string[] = [];
    for (const n of [1, 2]) watch(outcomes, `send ${n}`, sink.send(numbered(n)));
    sink.receiver.close();
    watch(outcomes, "send 3", sink.send(numbered(3)));
    await settle();
    expect(outcomes).toEqual(["send 1 ok", "send 2 cancelled", "send 3 cancelled"]);
    await expect(sink.send(started)).rejects.toThrow("operation cancelled");
    await expect(sink.send(started)).rejects.toBeInstanceOf(AgentError);
    expect((await sink.receiver.next()).value?.event).toEqual(numbered(1));
    expect(await sink.receiver.next()).toEqual({ value: undefined, done: true });
  });

  it("drops what it holds when a loop over it is left", async () => {
    const sink = new ChannelSink({ capacity: 3 });
    for (const n of [1, 2, 3]) void sink.send(numbered(n));
    for await (const { event } of sink.receiver) {
      expect(event).toEqual(numbered(1));
      break;
    }
    expect(sink.buffered).toBe(0);
    expect(await sink.receiver.next()).toEqual({ value: undefined, done: true });
    await expect(sink.send(started)).rejects.toThrow("operation cancelled");
  });

  it("ends a receiver that waits when it is closed elsewhere", async () => {
    const sink = new ChannelSink();
    const reads = [sink.receiver.next(), sink.receiver.next()];
    sink.receiver.close();
    const done = { value: undefined, done: true };
    expect(await Promise.all(reads)).toEqual([done, done]);
  });

  it("delivers everything, waiting sends too, after a shutdown by the agent's side", async () => {
    const sink = new ChannelSink({ capacity: 1 });
    const outcomes: string[] = [];
    for (const n of [1, 2, 3]) watch(outcomes, `send ${n}`, sink.send(numbered(n)));
    await sink.shutdown();
    watch(outcomes, "send 4", sink.send(numbered(4)));
    const received: number[] = [];
    for await (const { event } of sink.receiver) received.push(numberOf(event));
    expect(received).toEqual([1, 2, 3]);
    await settle();
    expect(outcomes.sort()).toEqual(["send 1 ok", "send 2 ok", "send 3 ok", "send 4 cancelled"]);
  });

  it("bounds the sends that wait, and says what to do", async () => {
    const sink = new ChannelSink({ capacity: 1, maxWaiting: 2 });
    for (const n of [1, 2, 3]) void sink.send(numbered(n));
    await expect(sink.send(numbered(4))).rejects.toThrow(
      "config error: 2 sends already wait for the receiver: await each send",
    );
    await sink.shutdown();
    const received: number[] = [];
    for await (const { event } of sink.receiver) received.push(numberOf(event));
    expect(received).toEqual([1, 2, 3]);
  });

  it("is no unhandled rejection where nobody looks at the outcome of a send", async () => {
    const sink = new ChannelSink({ capacity: 1, maxWaiting: 1 });
    for (const n of [1, 2, 3]) void sink.send(numbered(n));
    sink.receiver.close();
    void sink.send(numbered(4));
    await settle();
    expect(unhandled).toEqual([]);
  });

  it.each([
    [{ capacity: 0 }, "capacity"],
    [{ maxWaiting: 1.5 }, "maxWaiting"],
  ])("refuses %j", (options, field) => {
    expect(() => new ChannelSink(options)).toThrow(field);
  });

  it("loses nothing and keeps the order, for any interleaving of sends, reads and an end", async () => {
    const steps = fc.array(fc.constantFrom("send", "read", "pause"), { maxLength: 40 });
    const end = fc.constantFrom("shutdown", "close");
    const size = fc.integer({ min: 1, max: 4 });
    await fc.assert(
      fc.asyncProperty(size, steps, end, async (capacity, actions, ending) => {
        const sink = new ChannelSink({ capacity });
        const received: number[] = [];
        const taken: number[] = [];
        let refused = 0;
        let sent = 0;
        let reads = 0;
        const read = async () => {
          const { value } = await sink.receiver.next();
          if (value !== undefined) received.push(numberOf(value.event));
          return value !== undefined;
        };
        for (const action of actions) {
          if (action === "read") {
            reads += 1;
            void read();
          } else if (action === "pause") await settle();
          else {
            const n = sent++;
            Promise.resolve(sink.send(numbered(n), envelopeNo(n))).then(
              () => taken.push(n),
              () => {
                refused += 1;
              },
            );
          }
          expect(sink.buffered).toBeLessThanOrEqual(capacity);
        }
        await settle();
        // Before the end, exactly the sends that found a reader or a place have been taken.
        expect(taken.length).toBe(Math.min(sent, reads + capacity));
        if (ending === "shutdown") await sink.shutdown();
        else sink.receiver.close();
        while (await read());
        await settle();
        const all = Array.from({ length: sent }, (_, n) => n);
        expect(received).toEqual(all.slice(0, sent - refused));
        expect([...taken].sort((a, b) => a - b)).toEqual(received);
        expect(refused === 0 || ending === "close").toBe(true);
      }),
      { numRuns: runs(60) },
    );
  });
});
