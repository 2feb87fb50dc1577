import { describe, expect, it } from "vitest";
import { MOST_BYTES, StoreFlow } from "../../../src/bridge/door.ts";

function flow() {
  let ends = 0;
  const store = new StoreFlow(3, () => ends++, 0);
  const begin = (count: number) => {
    for (let n = 0; n < count; n++) store.begin(1);
  };
  const end = (count: number) => {
    for (let n = 0; n < count; n++) store.end(1);
  };
  return { store, begin, end, ends: () => ends };
}

describe("a store", () => {
  it("is stalled when it has taken nothing for over 10 s, though it was given something", () => {
    const { begin, end, store } = flow();
    begin(3);
    expect(store.isStalled(10_000)).toBe(false);
    expect(store.isStalled(10_001)).toBe(true);
    end(1);
    expect(store.isStalled(10_002)).toBe(false);
    // More is given to it, which is no progress.
    begin(7);
    expect([store.isStalled(20_002), store.isStalled(20_003)]).toEqual([false, true]);
    end(9);
    expect(store.isStalled(50_000)).toBe(false);
  });

  it("has all of its time for what begins after a pause", () => {
    const { begin, store } = flow();
    store.look(60_000);
    begin(1);
    expect(store.isStalled(60_100)).toBe(false);
    expect([store.isStalled(70_000), store.isStalled(70_001)]).toEqual([false, true]);
  });

  it("is stalled also where the machine's clock was put back meanwhile", () => {
    const { begin, store } = flow();
    store.look(3_600_000);
    begin(1);
    expect(store.isStalled(1_000)).toBe(false);
    expect([store.isStalled(11_000), store.isStalled(11_001)]).toEqual([false, true]);
  });

  it("has got on when as much was stored as was given", () => {
    const { begin, end, store } = flow();
    begin(1);
    store.look(9_000);
    end(1);
    begin(1);
    store.look(9_500);
    expect([store.isStalled(19_500), store.isStalled(19_501)]).toEqual([false, true]);
  });

  it("is full by number or by bytes, and says when something has ended", () => {
    const { begin, end, ends, store } = flow();
    begin(2);
    expect(store.full).toBe(false);
    begin(1);
    expect([store.full, store.count]).toEqual([true, 3]);
    end(3);
    expect([store.full, store.count, ends()]).toEqual([false, 0, 3]);
    store.begin(MOST_BYTES);
    expect(store.full).toBe(true);
    store.end(MOST_BYTES);
    expect(store.full).toBe(false);
  });
});
