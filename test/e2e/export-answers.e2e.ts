import { describe, expect, it } from "vitest";
import { Random } from "../support/random.ts";
import { ExportAgent } from "./support/export-agent.ts";
import { type Behaviour, ExportReceiver, type TakenRequest } from "./support/export-receiver.ts";

/** Some 25 requests of as many bytes as they take. */
const SPANS = 20_000;
const PADDING = 500;
const SEED = 1;
/** What fails is followed by a wait of a second or more, so there are few of each. */
const TROUBLE: readonly Behaviour[] = [
  ...(["refuse for now", "hang up", "cut off", "refuse"] as const),
  ...(["hang up", "refuse for now", "cut off", "refuse"] as const),
];

const numbersOf = (requests: readonly TakenRequest[]) =>
  requests.flatMap(({ numbers }) => numbers).sort((a, b) => a - b);

/** Each kind of trouble in a drawn order, with as many requests between that are taken. */
function behaviours(seed: number): () => Behaviour {
  const random = new Random(seed);
  const left = [...TROUBLE];
  return () => {
    if (left.length === 0 || random.chance(0.5)) return "take";
    const [behaviour = "take"] = left.splice(random.below(left.length), 1);
    return behaviour;
  };
}

describe("a receiver that refuses, hangs up and loses its answers", () => {
  it("has each span or has refused it, and the counts say which", async () => {
    await using receiver = await ExportReceiver.start();
    receiver.behaviour = behaviours(SEED);
    await using agent = await ExportAgent.start({
      endpoint: receiver.url,
      shutdownTimeoutMs: 60_000,
      padding: PADDING,
    });
    await agent.make(SPANS);
    const { counts } = await agent.end();

    const confirmed = numbersOf(receiver.taken.filter(({ status }) => status === 200));
    const refused = numbersOf(receiver.refused);
    expect(refused.length).toBeGreaterThan(0);
    expect(counts).toEqual({
      ended: SPANS,
      exported: confirmed.length,
      failed: refused.length,
      dropped: 0,
      pending: 0,
      lost: { rejected: refused.length },
    });
    // Each has had one answer; those whose answer was lost came again.
    const answered = [...confirmed, ...refused].sort((a, b) => a - b);
    expect(answered).toEqual(Array.from({ length: SPANS }, (_, n) => n));
    const unanswered = numbersOf(receiver.taken.filter(({ status }) => status === undefined));
    expect(unanswered.length).toBeGreaterThan(0);
    expect(receiver.dropped).toEqual(counts.lost);
    expect(receiver.faults).toEqual([]);
  });
});
