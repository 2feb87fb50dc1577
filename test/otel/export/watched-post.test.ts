import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Answer } from "../../../src/otel/export/answer.ts";
import type { Post } from "../../../src/otel/export/otlp-post.ts";
import { WatchedPost } from "../../../src/otel/export/watched-post.ts";
import { SpanLedger } from "../../../src/otel/setup/span-ledger.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const TAKEN: Answer = { kind: "taken", refused: 0 };
const GONE: Answer = {
  kind: "later",
  error: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }),
  afterMs: undefined,
};

/** Three spans wait at an endpoint that answers as it is told. */
function watch() {
  const ledger = new SpanLedger();
  for (let n = 0; n < 3; n++) ledger.queue();
  const told: string[] = [];
  let next: Answer = GONE;
  let aborted = 0;
  const inner: Post = { send: async () => next, abort: () => void aborted++ };
  const post = new WatchedPost(inner, ledger, (error) => told.push(error.message));
  const send = async (answer: Answer, thenMs: number) => {
    next = answer;
    expect(await post.send(new Uint8Array())).toBe(answer);
    vi.advanceTimersByTime(thenMs);
  };
  return { post, send, told, aborts: () => aborted };
}

const told = (seconds: number) =>
  `the endpoint has taken no spans for ${seconds} s; 3 spans wait and are sent again: ECONNREFUSED connect`;

describe("an endpoint that takes nothing", () => {
  it("is told of after ten seconds, and then once a minute", async () => {
    const one = watch();
    await one.send(GONE, 5_000);
    await one.send(GONE, 4_999);
    await one.send(GONE, 0);
    expect(one.told).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(one.told).toEqual([told(10)]);
    await one.send(GONE, 30_000);
    await one.send(GONE, 29_999);
    expect(one.told).toHaveLength(1);
    await one.send(GONE, 1);
    expect(one.told).toEqual([told(10), told(70)]);
  });

  it("is told of also when it asks for an hour, until it takes something", async () => {
    const one = watch();
    await one.send({ ...GONE, afterMs: 3_600_000 }, 140_000);
    expect(one.told).toEqual([told(10), told(70), told(130)]);
    await one.send(TAKEN, 140_000);
    expect(one.told).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is not told of where it takes something now and then, or refuses it", async () => {
    const one = watch();
    for (let n = 0; n < 10; n++) {
      await one.send(GONE, 6_000);
      await one.send(n % 2 === 0 ? TAKEN : { kind: "refused", error: new Error("no") }, 6_000);
    }
    expect(one.told).toEqual([]);
  });

  it("is told of once a minute at most, also when it comes and goes", async () => {
    const one = watch();
    for (let n = 0; n < 10; n++) {
      await one.send(GONE, 10_000);
      await one.send(GONE, 0);
      await one.send(TAKEN, 0);
    }
    expect(one.told).toEqual([told(10), told(10)]);
  });

  it("counts from the first attempt that was not taken, which may hang itself", async () => {
    const hanging = vi.fn<Post["send"]>(
      () => new Promise((resolve) => setTimeout(resolve, 12_000, GONE)),
    );
    const told: string[] = [];
    const post = new WatchedPost({ send: hanging, abort() {} }, new SpanLedger(), (error) =>
      told.push(error.message),
    );
    const attempt = post.send(new Uint8Array());
    await vi.advanceTimersByTimeAsync(12_000);
    await attempt;
    expect(told).toHaveLength(1);
    expect(told[0]).toContain("taken no spans for 12 s; 0 spans wait");
  });

  it("is not told of when the attempts are given up", async () => {
    const one = watch();
    await one.send(GONE, 9_999);
    one.post.abort();
    await one.send(GONE, 60_000);
    await one.send(GONE, 60_000);
    expect([one.told, one.aborts()]).toEqual([[], 1]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
