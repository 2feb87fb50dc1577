import { describe, expect, it } from "vitest";
import { ExportAgent } from "./support/export-agent.ts";
import { orderSeen } from "./support/export-order.ts";
import { ExportReceiver } from "./support/export-receiver.ts";
import { untilHolds } from "./support/until.ts";

/** Of spans of some 600 bytes: a few requests each. */
const [BEFORE, AFTER] = [3_000, 5_000];
const PADDING = 500;

/** An agent whose first spans have arrived. */
async function agentWithSpans(receiver: ExportReceiver, shutdownTimeoutMs: number) {
  const { url: endpoint } = receiver;
  const agent = await ExportAgent.start({ endpoint, shutdownTimeoutMs, padding: PADDING });
  await agent.make(BEFORE);
  expect(await agent.flush()).toMatchObject({ exported: BEFORE, pending: 0, lost: {} });
  return agent;
}

const range = (end: number) => Array.from({ length: end }, (_, n) => n);

describe("at a shutdown every span is at the receiver or counted:", () => {
  it("nobody listens any more", async () => {
    await using receiver = await ExportReceiver.start();
    await using agent = await agentWithSpans(receiver, 2_500);
    await receiver.goAway();
    await agent.make(AFTER);
    const { counts } = await agent.end();
    expect(counts).toEqual({
      ended: BEFORE + AFTER,
      exported: BEFORE,
      failed: AFTER,
      dropped: 0,
      pending: 0,
      lost: { unreachable: AFTER },
    });
    expect(orderSeen(receiver.taken).numbers).toEqual(range(BEFORE));
    const atShutdown = agent.troubles.filter(({ place }) => place === "shutdown");
    expect(atShutdown.filter(({ lost }) => lost !== undefined)).toMatchObject([
      { name: "SpanLossError", lost: AFTER, counts },
    ]);
  });

  it("the receiver can't take spans, and its metrics tell how many are lost", async () => {
    await using receiver = await ExportReceiver.start();
    await using agent = await agentWithSpans(receiver, 2_500);
    receiver.behaviour = "refuse for now";
    await agent.make(AFTER);
    const { counts } = await agent.end();
    expect(counts).toMatchObject({ exported: BEFORE, failed: AFTER, lost: { rejected: AFTER } });
    expect(receiver.numbers).toHaveLength(BEFORE);
    expect(receiver.dropped).toEqual({ rejected: AFTER });
  });

  it("the receiver takes spans and does not say so: they are counted, and they are there", async () => {
    await using receiver = await ExportReceiver.start();
    await using agent = await agentWithSpans(receiver, 2_500);
    receiver.behaviour = "keep quiet";
    await agent.make(AFTER);
    const { counts } = await agent.end();
    expect(counts).toMatchObject({ exported: BEFORE, failed: AFTER, pending: 0 });
    expect(counts.ended).toBe(BEFORE + AFTER);
    const unanswered = receiver.taken.filter(({ status }) => status === undefined);
    const lostAnswers = unanswered.reduce((sum, { numbers }) => sum + numbers.length, 0);
    expect(lostAnswers).toBeGreaterThan(0);
    expect(receiver.numbers).toHaveLength(counts.exported + lostAnswers);
    expect(receiver.dropped).toEqual(counts.lost);
  });
});

describe("SIGTERM, with handleSignals, under load", () => {
  const RATE = 2_000;
  const options = { shutdownTimeoutMs: 2_000, handleSignals: true, rate: RATE, padding: PADDING };

  it("sends what has ended before the process goes", async () => {
    await using receiver = await ExportReceiver.start();
    await using agent = await ExportAgent.start({ ...options, endpoint: receiver.url });
    await untilHolds("spans are made", () => expect(agent.made).toBeGreaterThan(RATE));
    expect(await agent.signal("SIGTERM")).toBe("SIGTERM");
    const { numbers } = orderSeen(receiver.taken);
    // Only what ended while it was shut down is lost, and that is said.
    const [report] = agent.troubles.filter(({ place }) => place === "shutdown");
    const { lost = 0, counts } = report ?? {};
    expect(numbers).toEqual(range(agent.made - lost));
    expect(counts?.lost ?? {}).toEqual(lost === 0 ? {} : { after_shutdown: lost });
    expect(numbers.length).toBeGreaterThan(RATE);
  });

  it("with nobody listening any more, counts what is lost", async () => {
    await using receiver = await ExportReceiver.start();
    await using agent = await ExportAgent.start({ ...options, endpoint: receiver.url });
    await untilHolds("spans have come", () => expect(receiver.numbers.length).toBeGreaterThan(0), {
      everyMs: 20,
    });
    await receiver.goAway();
    const gone = agent.made;
    await untilHolds("more are made", () => expect(agent.made).toBeGreaterThan(gone + RATE));
    expect(await agent.signal("SIGTERM")).toBe("SIGTERM");
    const [report, another] = agent.troubles.filter(
      ({ name, place }) => name === "SpanLossError" && place === "shutdown",
    );
    expect(another).toBeUndefined();
    const { ended, exported, failed, dropped, pending } = report?.counts ?? {};
    expect(ended).toBe(agent.made);
    expect(exported).toBe(receiver.numbers.length);
    expect(failed).toBeGreaterThan(RATE);
    expect(report?.lost).toBe(agent.made - receiver.numbers.length);
    expect(Number(exported) + Number(failed) + Number(dropped) + Number(pending)).toBe(ended);
    expect(pending).toBe(0);
    expect(orderSeen(receiver.taken).numbers).toEqual(range(receiver.numbers.length));
  });
});
