import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failureText } from "./failure-text.ts";
import { markdownTable } from "./table.ts";
import { Trials } from "./trials.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "entelix-otel-trials-"));
});

afterEach(() => rm(root, { recursive: true }));

const trialsOf = (only?: number) => new Trials({ family: "fake", seed: 7, root, only });
const asked = { short: true, seed: 7, only: undefined, number: undefined, markdown: false };

describe("trials", () => {
  it("count what came of their inputs, by kind", async () => {
    const trials = trialsOf();
    await trials.each("refused ones", 3, async (trial) => trial.refuse(2));
    await trials.one("taken ones", async (trial) => trial.accept());
    await trials.one("taken ones", async (trial) => trial.harm("lost", "all", "two gone", 2));
    expect(trials.kinds).toMatchObject([
      { kind: "refused ones", inputs: 6, refused: 6, accepted: 0 },
      { kind: "taken ones", inputs: 2, accepted: 1, harms: { lost: 2, doubled: 0 } },
    ]);
    expect(markdownTable([trials])).toBe(
      [
        "| family | input | count | refused | accepted | lost | doubled | altered | unanswered | unexpected |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        "| fake | refused ones | 6 | 6 | 0 | 0 | 0 | 0 | 0 | 0 |",
        "| fake | taken ones | 2 | 0 | 1 | 2 | 0 | 0 | 0 | 0 |",
        "| all |  | 8 | 6 | 1 | 2 | 0 | 0 | 0 | 0 |",
      ].join("\n"),
    );
  });

  it("that throw have found something unexpected, and those that hang are unanswered", async () => {
    const trials = trialsOf();
    await trials.one("throwing", async () => {
      throw new Error("broken");
    });
    await trials.one("hanging", () => new Promise(() => {}), { boundMs: 20 });
    expect(trials.failures).toMatchObject([
      { kind: "throwing", number: 1, harm: "unexpected" },
      { kind: "hanging", number: 2, harm: "unanswered" },
    ]);
  });

  it("keep their files where they found something, say how to repeat it, and tell three of a sort", async () => {
    const trials = trialsOf();
    const folders: string[] = [];
    await trials.each("kind", 5, async (trial) => {
      folders.push(await trial.folder());
      await writeFile(join(await trial.folder(), "input"), "x");
      if (trial.number > 1) trial.equal("figure", 1, 2);
    });
    expect(folders.map((folder) => existsSync(folder))).toEqual([false, true, true, true, false]);
    const text = failureText(trials, asked);
    expect(text).toContain("FAILED fake, trial 2 (kind): unexpected 1");
    expect(text).toContain("expected  figure: 2\n  found     1");
    expect(text).toContain(`files     ${folders[1]}`);
    expect(text).toContain(
      "repeat    npm run test:hostile -- --short --seed 7 --only fake --number 2",
    );
    expect(text).toContain("… and 1 more failures of this family");
  });

  it("have the same numbers for the same seed and number, alone or with others", async () => {
    const draw = async (trials: Trials) => {
      const drawn = new Map<number, number>();
      await trials.each(
        "a",
        3,
        async (trial) => void drawn.set(trial.number, trial.random.next()),
        {
          width: 2,
        },
      );
      await trials.each("b", 2, async (trial) => void drawn.set(trial.number, trial.random.next()));
      return drawn;
    };
    const all = await draw(trialsOf());
    expect([...all.keys()].sort()).toEqual([1, 2, 3, 4, 5]);
    expect(new Set(all.values()).size).toBe(5);
    expect([...(await draw(trialsOf(4)))]).toEqual([[4, all.get(4)]]);
  });

  it("that go on from others are left out where one is asked for", async () => {
    const trials = trialsOf(1);
    const made: number[] = [];
    const work = async ({ number }: { number: number }) => void made.push(number);
    await trials.each("chained", 1, work, { chained: true });
    await trials.each("alone", 1, work);
    expect(made).toEqual([]);
  });
});
