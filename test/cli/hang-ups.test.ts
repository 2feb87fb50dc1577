import { afterEach, describe, expect, it } from "vitest";
import { HangUps } from "../../src/cli/services/signals.ts";

const hangUp = () => process.emit("SIGHUP", "SIGHUP");
const turn = () => new Promise((resolve) => setImmediate(resolve));

let hangUps: HangUps | undefined;
afterEach(() => hangUps?.release());

describe("SIGHUP at serve", () => {
  it("is answered later where it comes while the service is opening its journal", async () => {
    const before = process.listenerCount("SIGHUP");
    hangUps = new HangUps();
    // Without a listener the signal would end the process.
    expect(process.listenerCount("SIGHUP")).toBe(before + 1);
    hangUp();
    hangUp();
    let answers = 0;
    hangUps.answerBy(async () => {
      answers += 1;
    });
    await turn();
    expect(answers).toBe(1);
    hangUp();
    await turn();
    expect(answers).toBe(2);
    hangUps.release();
    expect(process.listenerCount("SIGHUP")).toBe(before);
  });

  it("is answered once for each, one after the other", async () => {
    hangUps = new HangUps();
    const ends: (() => void)[] = [];
    hangUps.answerBy(() => new Promise((resolve) => ends.push(resolve)));
    await turn();
    expect(ends.length).toBe(0);
    hangUp();
    hangUp();
    await turn();
    expect(ends.length).toBe(1);
    ends[0]?.();
    await turn();
    expect(ends.length).toBe(2);
  });
});
