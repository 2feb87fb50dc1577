import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ExportAgent } from "./support/export-agent.ts";
import { orderSeen } from "./support/export-order.ts";
import { ExportReceiver } from "./support/export-receiver.ts";
import { untilHolds } from "./support/until.ts";

/** How long nobody listens, in seconds: `ENTELIX_OUTAGE_SECONDS=300` is five minutes. */
const AWAY_SECONDS = Number(process.env.ENTELIX_OUTAGE_SECONDS ?? 20);
/** Spans a second; with so much in each, the queue is full before the outage is half over. */
const RATE = 1_000;
const PADDING = 8_000;

const QUEUE_BYTES = 64 * 1024 * 1024;
const REQUESTS_AT_ONCE = 4;

describe("a receiver that is away under a steady load, comes back, and can't take any again,", () => {
  it("has every span but those past the bound, which are counted, in the order in which they ended", {
    timeout: (AWAY_SECONDS + 100) * 1_000,
  }, async () => {
    await using receiver = await ExportReceiver.start();
    await using agent = await ExportAgent.start({
      endpoint: receiver.url,
      shutdownTimeoutMs: 30_000,
      rate: RATE,
      padding: PADDING,
    });
    await sleep(1_000);
    await receiver.goAway();
    const before = receiver.numbers.length;
    await sleep(AWAY_SECONDS * 1_000);
    expect(receiver.numbers).toHaveLength(before);
    await receiver.comeBack();
    await untilHolds("what waited has come", () => expect(agent.pending).toBeLessThan(2 * RATE));
    receiver.behaviour = "refuse for now";
    await sleep(3_000);
    receiver.behaviour = "take";
    await sleep(1_000);
    await agent.stop();
    const { counts, made, peak } = await agent.end();

    // Whatever ended was confirmed or dropped, and nothing else happened to it.
    const { dropped, exported } = counts;
    expect(counts).toEqual({
      ended: made,
      exported: made - dropped,
      failed: 0,
      dropped,
      pending: 0,
      lost: { queue_full: dropped },
    });
    expect(dropped).toBeGreaterThan(0);
    expect(receiver.dropped).toEqual({ queue_full: dropped });
    const reports = agent.troubles.filter(({ name }) => name === "SpanLossError");
    expect(reports.filter(({ place }) => place === "shutdown")).toMatchObject([
      { lost: dropped, counts },
    ]);
    const onTheWay = reports.filter(({ place }) => place === "span loss");
    expect(onTheWay.length).toBeGreaterThan(0);
    expect(onTheWay.length).toBeLessThan(2 + AWAY_SECONDS / 60);

    // None came twice, and what did not come is what was dropped.
    const { numbers, overtaken } = orderSeen(receiver.taken);
    expect(numbers).toHaveLength(exported);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    expect(overtaken).toBeLessThan(REQUESTS_AT_ONCE);
    expect(receiver.faults).toEqual([]);

    // What waited was bounded by its bytes, and filled the bound.
    const spanBytes = Math.min(
      ...receiver.taken.map((request) => request.bytes / request.numbers.length),
    );
    expect(peak.pending * spanBytes).toBeLessThanOrEqual(QUEUE_BYTES);
    expect(peak.pending * spanBytes).toBeGreaterThan(0.99 * QUEUE_BYTES);
    console.log(
      `away ${AWAY_SECONDS} s: ${made} made, ${exported} arrived, ${dropped} dropped, ` +
        `${peak.pending} waited at most (${megabytes(peak.pending * spanBytes)}), ` +
        `process grown by ${megabytes(peak.bytes)} at most, ` +
        `${receiver.taken.length} requests, ${overtaken} overtaken`,
    );
  });
});

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
