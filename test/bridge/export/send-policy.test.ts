import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Attempt, StatusError } from "../../../src/bridge/export/attempt.ts";
import type { Post } from "../../../src/bridge/export/otlp-post.ts";
import { REPLAY, SERVICE, type SendPolicy } from "../../../src/bridge/export/send-policy.ts";
import { type Outcome, SpanSender } from "../../../src/bridge/export/span-sender.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const TAKEN: Attempt = { kind: "taken", refused: 0 };
const gone = (code: string): Attempt => ({
  kind: "failed",
  error: Object.assign(new Error("no"), { code }),
});
const answered = (status: number, afterMs?: number): Attempt => ({
  kind: "failed",
  error: new StatusError(status, "no"),
  afterMs,
});

/** A sender of one request at a time to an endpoint that answers so, without jitter. */
function senderOf(policy: SendPolicy, answer: () => Attempt) {
  const begin = performance.now();
  /** When it was sent to, in ms. */
  const sent: number[] = [];
  /** How long each attempt may take, in ms. */
  const bounds: (number | undefined)[] = [];
  const post: Post = {
    send: async (_, withinMs) => {
      sent.push(performance.now() - begin);
      bounds.push(withinMs);
      return answer();
    },
    abort() {},
  };
  const sender = new SpanSender({ post, requests: 1, policy: { ...policy, jitter: [1, 1] } });
  const outcomes: Outcome[] = [];
  const send = () =>
    sender.add(
      { spans: 3, size: 0, encode: () => new Uint8Array() },
      { settled: ({ outcome }) => void outcomes.push(outcome) },
    );
  const kinds = () => outcomes.map(({ kind }) => kind);
  return { sent, bounds, send, kinds, sender };
}

describe("a command", () => {
  const policy = { ...REPLAY, withinMs: 10_000 };

  it("tries a request again for as long as it may take, and the next one anew", async () => {
    const one = senderOf(policy, () => gone("ECONNREFUSED"));
    one.send();
    one.send();
    await vi.advanceTimersByTimeAsync(8_125);
    expect(one.sent).toEqual([0, 1_000, 2_500, 4_750, 8_125, 8_125]);
    expect(one.bounds.slice(0, 3)).toEqual([10_000, 10_000, 9_000]);
    expect(one.kinds()).toEqual(["lost"]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(one.sent).toHaveLength(10);
    expect(one.kinds()).toEqual(["lost", "lost"]);
  });

  it("tries it again five times at most", async () => {
    const delays = { firstMs: 1, mostMs: 1 };
    const one = senderOf({ ...policy, delays }, () => answered(503));
    one.send();
    await vi.advanceTimersByTimeAsync(10_000);
    expect([one.sent.length, one.kinds()]).toEqual([6, ["lost"]]);
  });

  it("waits no longer for a busy receiver than the request may take", async () => {
    const waits = [3_000, 8_000];
    const one = senderOf(policy, () => answered(429, waits.shift()));
    one.send();
    await vi.advanceTimersByTimeAsync(3_000);
    expect([one.sent, one.kinds()]).toEqual([[0, 3_000], ["lost"]]);
  });

  it.each(["DEPTH_ZERO_SELF_SIGNED_CERT", "HPE_INVALID_CONSTANT", "ERR_INVALID_CHAR"])(
    "does not try again what no wait mends: %s",
    async (code) => {
      const one = senderOf(policy, () => gone(code));
      one.send();
      await vi.advanceTimersByTimeAsync(0);
      expect([one.sent, one.kinds()]).toEqual([[0], ["refused"]]);
    },
  );

  it.each([400, 401, 413, 500])("takes %i as an answer", async (status) => {
    const one = senderOf(policy, () => answered(status));
    one.send();
    await vi.advanceTimersByTimeAsync(0);
    expect([one.sent, one.kinds()]).toEqual([[0], ["refused"]]);
  });
});

describe("a service", () => {
  it("goes on when it may, and 10 s later at most", async () => {
    const answers = [
      answered(503, 3_600_000),
      gone("DEPTH_ZERO_SELF_SIGNED_CERT"),
      answered(401),
      answered(500),
      TAKEN,
    ];
    const one = senderOf(SERVICE, () => answers.shift() ?? TAKEN);
    one.send();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([one.sent, one.kinds()]).toEqual([[0, 10_000, 10_100, 10_300, 10_700], ["taken"]]);
  });

  it("lets no request that fails time and again hold up the others", async () => {
    let attempts = 0;
    // Every other attempt fails.
    const one = senderOf(SERVICE, () => (attempts++ % 2 === 0 ? answered(500) : TAKEN));
    const settled: number[] = [];
    for (let n = 0; n < 3; n++) {
      one.sender.add(
        { spans: 1, size: 0, encode: () => new Uint8Array() },
        { settled: () => void settled.push(n) },
      );
    }
    await vi.advanceTimersByTimeAsync(60_000);
    expect(settled).toEqual([1, 0, 2]);
  });

  it("gives up a request that failed 50 times while others were taken in between, and none before", async () => {
    const [bad, fine] = [new Uint8Array([1]), new Uint8Array([2])];
    const outcomes: string[] = [];
    const sender = new SpanSender({
      post: {
        send: async (bytes) => (bytes === bad ? gone("ECONNRESET") : TAKEN),
        abort() {},
      },
      requests: 1,
      policy: SERVICE,
    });
    const add = (bytes: Uint8Array) =>
      sender.add(
        { spans: 1, size: 0, encode: () => bytes },
        { settled: ({ outcome }) => void outcomes.push(outcome.kind) },
      );
    add(bad);
    await vi.advanceTimersByTimeAsync(3_600_000);
    // Alone, it may be an outage.
    expect(outcomes).toEqual([]);
    for (let n = 0; n < 50; n++) {
      add(fine);
      await vi.advanceTimersByTimeAsync(20_000);
    }
    expect(outcomes).toEqual(Array(50).fill("taken"));
    add(fine);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(outcomes.filter((kind) => kind !== "taken")).toEqual(["lost"]);
    sender.giveUp(new Error("over"));
  });

  it.each([400, 413, 422])("takes %i as an answer about the spans", async (status) => {
    const one = senderOf(SERVICE, () => answered(status));
    one.send();
    await vi.advanceTimersByTimeAsync(0);
    expect([one.sent, one.kinds()]).toEqual([[0], ["refused"]]);
  });
});
