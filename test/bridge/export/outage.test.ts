import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Attempt, StatusError } from "../../../src/bridge/export/attempt.ts";
import type { Post } from "../../../src/bridge/export/otlp-post.ts";
import { LIVE, SERVICE, type SendPolicy } from "../../../src/bridge/export/send-policy.ts";
import { SpanSender } from "../../../src/bridge/export/span-sender.ts";
import { rig } from "./support/rig.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const TAKEN: Attempt = { kind: "taken", refused: 0 };
const REFUSED: Attempt = { kind: "failed", error: new StatusError(400, "no") };
const GONE: Attempt = {
  kind: "failed",
  error: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }),
};

/** A request at an endpoint that answers as it is told, each second. */
function watch(own: Partial<SendPolicy> = {}) {
  const told: number[] = [];
  let aborted = 0;
  let answer = GONE;
  const post: Post = { send: async () => answer, abort: () => void aborted++ };
  const delays = { firstMs: 1_000, mostMs: 1_000 };
  const policy: SendPolicy = { ...LIVE, jitter: [1, 1], delays, ...own };
  const onOutage = (_: unknown, ms: number) => told.push(Math.round(ms / 1000));
  const sender = new SpanSender({ post, requests: 1, policy, onOutage });
  const send = () => void sender.send({ spans: 1, size: 1, encode: () => new Uint8Array() });
  const pass = async (next: Attempt, ms: number) => {
    answer = next;
    await vi.advanceTimersByTimeAsync(ms);
  };
  send();
  return { told, send, pass, sender, aborts: () => aborted };
}

describe("an endpoint that takes nothing", () => {
  it("is reported after ten seconds, and then once a minute", async () => {
    const one = watch();
    await one.pass(GONE, 9_999);
    expect(one.told).toEqual([]);
    await one.pass(GONE, 1);
    expect(one.told).toEqual([10]);
    await one.pass(GONE, 59_999);
    expect(one.told).toEqual([10]);
    await one.pass(GONE, 1);
    expect(one.told).toEqual([10, 70]);
  });

  it("is reported also when it asks for an hour, and is tried again after five minutes", async () => {
    const one = watch();
    const error = new StatusError(503, "later");
    await one.pass({ kind: "failed", error, afterMs: 3_600_000 }, 140_000);
    expect(one.told).toEqual([10, 70, 130]);
    await one.pass(TAKEN, 159_999);
    expect(one.told).toEqual([10, 70, 130, 190, 250]);
    await one.pass(TAKEN, 3_600_000);
    expect(one.told).toEqual([10, 70, 130, 190, 250]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is waited for as it asks, within the limit", async () => {
    const one = watch();
    const error = new StatusError(429, "later");
    await one.pass({ kind: "failed", error, afterMs: 240_000 }, 1_000);
    await one.pass(TAKEN, 239_999);
    expect(one.told.at(-1)).toBe(190);
    expect(vi.getTimerCount()).toBe(2);
    await one.pass(TAKEN, 1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is not reported where it takes something now and then, or refuses it", async () => {
    const one = watch();
    for (let n = 0; n < 10; n++) {
      await one.pass(GONE, 6_000);
      await one.pass(n % 2 === 0 ? TAKEN : REFUSED, 1_000);
      await one.pass(GONE, 0);
      one.send();
    }
    expect(one.told).toEqual([]);
  });

  it("is reported once a minute at most, also when it comes and goes", async () => {
    const one = watch();
    for (let n = 0; n < 10; n++) {
      await one.pass(GONE, 11_000);
      await one.pass(TAKEN, 1_000);
      await one.pass(GONE, 0);
      one.send();
    }
    expect(one.told).toEqual([10, 10]);
  });

  it("is reported at once where its answer is one for operators, which a service repeats", async () => {
    const one = watch({ isRetried: SERVICE.isRetried });
    await one.pass({ kind: "failed", error: new StatusError(401, "who?") }, 1_000);
    expect(one.told).toEqual([1]);
    await one.pass({ kind: "failed", error: new StatusError(401, "who?") }, 59_999);
    expect(one.told).toEqual([1]);
    one.sender.giveUp(new Error("closed"));
  });

  it("counts from the first attempt that was not taken, which may hang itself", async () => {
    const send = () => new Promise<Attempt>((resolve) => setTimeout(resolve, 12_000, GONE));
    const told: string[] = [];
    const { end, processor } = rig({ send, abort() {} }, {}, (error) => told.push(error.message));
    end(["a", "b", "c"]);
    const flushed = processor.forceFlush();
    await vi.advanceTimersByTimeAsync(12_000);
    expect(told).toEqual([
      "the endpoint has taken no spans for 12 s; 3 spans wait and are sent again: ECONNREFUSED connect",
    ]);
    processor.giveUp();
    await expect(flushed).rejects.toThrow("connect");
  });

  it("is not reported when the attempts are given up", async () => {
    const one = watch();
    await one.pass(GONE, 9_999);
    one.sender.giveUp(new Error("over"));
    await one.pass(GONE, 120_000);
    expect([one.told, one.aborts()]).toEqual([[], 1]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
