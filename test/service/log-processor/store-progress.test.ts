import { describe, expect, it } from "vitest";
import { StoreProgress } from "../../../src/service/log-processor/store-progress.ts";

function progress() {
  const way = { count: 0, done: 0 };
  return { way, store: new StoreProgress(way, 0) };
}

describe("a store", () => {
  it("is stalled when it has taken nothing for over 10 s, though it was given something", () => {
    const { store, way } = progress();
    way.count = 3;
    expect(store.isStalled(10_000)).toBe(false);
    expect(store.isStalled(10_001)).toBe(true);
    way.count = 2;
    way.done = 1;
    expect(store.isStalled(10_002)).toBe(false);
    // More is given to it, which is no progress.
    way.count = 9;
    expect([store.isStalled(20_002), store.isStalled(20_003)]).toEqual([false, true]);
    way.count = 0;
    way.done = 10;
    expect(store.isStalled(50_000)).toBe(false);
  });

  it("has all of its time for what begins after a pause", () => {
    const { store, way } = progress();
    store.look(60_000);
    way.count = 1;
    expect(store.isStalled(60_100)).toBe(false);
    expect([store.isStalled(70_000), store.isStalled(70_001)]).toEqual([false, true]);
  });

  it("is stalled also where the machine's clock was put back meanwhile", () => {
    const { store, way } = progress();
    store.look(3_600_000);
    way.count = 1;
    expect(store.isStalled(1_000)).toBe(false);
    expect([store.isStalled(11_000), store.isStalled(11_001)]).toEqual([false, true]);
  });

  it("has got on when as much was stored as was given", () => {
    const { store, way } = progress();
    way.count = 1;
    store.look(9_000);
    way.done = 1;
    store.look(9_500);
    expect([store.isStalled(19_500), store.isStalled(19_501)]).toEqual([false, true]);
  });
});
