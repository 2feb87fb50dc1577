import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Attempt, StatusError } from "../../../src/bridge/export/attempt.ts";
import type { Post } from "../../../src/bridge/export/otlp-post.ts";
import { LIVE } from "../../../src/bridge/export/send-policy.ts";
import { runs } from "../../support/runs.ts";
import { decodeRequest } from "./support/decode-request.ts";
import { rig } from "./support/rig.ts";

type Behaviour = "take" | "take some" | "later" | "asked to wait" | "refuse" | "hang";

/** An endpoint that behaves as it is told, attempt by attempt, and keeps what it was sent. */
class ToldPost implements Post {
  readonly taken: string[][] = [];
  readonly tried: string[][] = [];
  refused = 0;
  underWay = 0;
  mostAtOnce = 0;
  readonly #behaviours: readonly Behaviour[];
  readonly #hanging: (() => void)[] = [];

  constructor(behaviours: readonly Behaviour[]) {
    this.#behaviours = behaviours;
  }

  async send(bytes: Uint8Array): Promise<Attempt> {
    const names = decodeRequest(bytes).map(({ name }) => name);
    const attempt = this.tried.push(names) - 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.underWay);
    await new Promise((resolve) => setTimeout(resolve, (attempt * 7) % 3));
    const answer = await this.#answer(this.#behaviours[attempt] ?? "take", names);
    this.underWay--;
    return answer;
  }

  abort(): void {
    for (const release of this.#hanging) release();
  }

  async #answer(behaviour: Behaviour, names: string[]): Promise<Attempt> {
    const error = new Error("no");
    switch (behaviour) {
      case "take":
        this.taken.push(names);
        return { kind: "taken", refused: 0 };
      case "take some":
        this.taken.push(names);
        this.refused += 1;
        return { kind: "taken", refused: 1 };
      case "later":
        return { kind: "failed", error };
      case "asked to wait":
        return { kind: "failed", error, afterMs: 2 };
      case "refuse":
        this.refused += names.length;
        return { kind: "failed", error: new StatusError(400, "no") };
      case "hang":
        await new Promise<void>((resolve) => this.#hanging.push(resolve));
        return { kind: "failed", error };
      default:
        return behaviour satisfies never;
    }
  }
}

const behaviour = fc.constantFrom<Behaviour>(
  "take",
  "take some",
  "later",
  "asked to wait",
  "refuse",
);
const step = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant("flush" as const));

describe("whatever an endpoint answers", () => {
  it("every span is counted once, none comes twice, and the order is kept", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(behaviour, { maxLength: 20 }),
        fc.array(step, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom(5_000, 20_000, 1_000_000),
        async (behaviours, steps, requests, queueBytes) => {
          const post = new ToldPost(behaviours);
          const { end, ledger, processor } = rig(post, {
            requests,
            queueBytes,
            maxExportBatchSize: 4,
          });
          let count = 0;
          for (const each of steps) {
            if (each === "flush") await processor.forceFlush().catch(() => {});
            else end(Array.from({ length: each }, () => String(count++)));
            expect(processor.bytes).toBeLessThanOrEqual(queueBytes);
          }
          await processor.shutdown();
          const { dropped, ended, exported, failed, lost, pending } = ledger.counts();
          expect(ended).toBe(count);
          expect({ pending, queued: ledger.queued, bytes: processor.bytes }).toEqual({
            pending: 0,
            queued: 0,
            bytes: 0,
          });
          expect(dropped).toBe(lost.queue_full);
          expect(failed).toBe(post.refused);
          expect(exported + failed + dropped).toBe(ended);
          expect(post.mostAtOnce).toBeLessThanOrEqual(requests);
          const taken = post.taken.flat();
          expect(new Set(taken).size).toBe(taken.length);
          if (requests === 1)
            expect(taken).toEqual([...taken].sort((a, b) => Number(a) - Number(b)));
        },
      ),
      { numRuns: runs(150) },
    );
  });

  it("what was tried again is what was tried before", async () => {
    const post = new ToldPost(["later", "asked to wait", "later", "take"]);
    const { end, processor } = rig(post, { requests: 1 });
    end(["a", "b"]);
    await processor.shutdown();
    expect(post.tried).toEqual(Array.from({ length: 4 }, () => ["a", "b"]));
  });

  for (const [failing, { failsAfterMs, takesMs }] of [
    ["while others are taken", { failsAfterMs: 1, takesMs: 0 }],
    ["faster than others can be taken", { failsAfterMs: 0, takesMs: 2 }],
  ] as const) {
    it(`a request that fails time and again ${failing} is given up`, async () => {
      const taken: string[] = [];
      let tries = 0;
      const post: Post = {
        async send(bytes) {
          const [name = ""] = decodeRequest(bytes).map((span) => span.name);
          const ms = name === "poison" ? failsAfterMs : takesMs;
          if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
          if (name !== "poison") {
            taken.push(name);
            return { kind: "taken", refused: 0 };
          }
          tries++;
          return { kind: "failed", error: new Error("no") };
        },
        abort() {},
      };
      const { end, ledger, processor } = rig(post, { maxExportBatchSize: 1 });
      const names = Array.from({ length: 400 }, (_, n) => String(n));
      end(["poison", ...names]);
      while (ledger.counts().failed === 0) {
        end(["more"]);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      expect(tries).toBeGreaterThan(LIVE.overtaken);
      await processor.shutdown();
      expect(taken.slice(0, 400)).toEqual(names);
      expect(ledger.counts()).toMatchObject({
        failed: 1,
        pending: 0,
        lost: { export_failed: 1 },
      });
    });
  }

  it("a request that fails while nothing else is taken is kept", async () => {
    let tries = 0;
    const post: Post = {
      async send() {
        tries++;
        if (tries > 2 * LIVE.overtaken) return { kind: "taken", refused: 0 };
        return { kind: "failed", error: new Error("no") };
      },
      abort() {},
    };
    const { end, ledger, processor } = rig(post, {
      maxExportBatchSize: 1,
      backoff: { firstMs: 0.1, mostMs: 0.1 },
    });
    end(["a", "b", "c"]);
    await processor.shutdown();
    expect(tries).toBe(2 * LIVE.overtaken + 3);
    expect(ledger.counts()).toMatchObject({ exported: 3, failed: 0 });
  });

  it("a shutdown that is given up counts what hangs and what waits as lost", async () => {
    const post = new ToldPost(["take", "hang", "hang"]);
    const { end, ledger, processor } = rig(post, { requests: 2, maxExportBatchSize: 2 });
    end(["a", "b"]);
    await processor.forceFlush();
    end(["c", "d", "e", "f", "g", "h", "i"]);
    const closing = processor.shutdown();
    processor.giveUp();
    await closing;
    expect(ledger.counts()).toMatchObject({
      exported: 2,
      failed: 7,
      pending: 0,
      lost: { timeout: 7 },
    });
    expect(processor.bytes).toBe(0);
  });
});
