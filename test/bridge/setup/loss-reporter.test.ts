import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Reporter } from "../../../src/bridge/report.ts";
import { LossReporter, SpanLedger } from "../../../src/bridge/setup/span-ledger.ts";
import { keepReports } from "./reports.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function watch() {
  const ledger = new SpanLedger();
  const reports = keepReports();
  const losses = new LossReporter(ledger, new Reporter(reports.onError));
  const lost = () => reports.losses("span loss").map((error) => error.lost);
  return { ledger, losses, reports, lost };
}

describe("LossReporter", () => {
  it("reports a burst once, then at most once a minute, each loss once", () => {
    const { ledger, lost } = watch();
    for (let i = 0; i < 5; i++) ledger.drop("queue_full");
    expect(lost()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(lost()).toEqual([5]);
    ledger.drop("queue_full");
    vi.advanceTimersByTime(30_000);
    ledger.drop("queue_full");
    vi.advanceTimersByTime(29_998);
    expect(lost()).toEqual([5]);
    vi.advanceTimersByTime(2);
    expect(lost()).toEqual([5, 2]);
    vi.advanceTimersByTime(600_000);
    expect(lost()).toEqual([5, 2]);
    ledger.drop("queue_full");
    vi.advanceTimersByTime(1);
    expect(lost()).toEqual([5, 2, 1]);
  });

  it("has no timer while nothing is lost, and lets go of it after a quiet minute", () => {
    const { ledger } = watch();
    ledger.queue();
    ledger.send(1);
    ledger.confirm(1);
    expect(vi.getTimerCount()).toBe(0);
    ledger.drop("queue_full");
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(60_001);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("sums all reasons up in the total, the pending spans too, reported before or not", () => {
    const { ledger, losses, reports } = watch();
    ledger.drop("queue_full");
    vi.advanceTimersByTime(1);
    for (let i = 0; i < 9; i++) ledger.queue();
    ledger.send(6);
    ledger.fail(2, Object.assign(new Error("connect"), { code: "ECONNREFUSED" }));
    ledger.confirm(3);
    losses.total("shutdown");
    const [total] = reports.losses("shutdown");
    expect(total?.message).toBe(
      "7 spans lost (queue_full 1, unreachable 2, unconfirmed 4) of 10 that ended; " +
        "last error of an export: ECONNREFUSED connect",
    );
    expect(total?.lost).toBe(7);
    expect(total?.counts).toMatchObject({
      ended: 10,
      exported: 3,
      failed: 2,
      dropped: 1,
      pending: 4,
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("has nothing to say when nothing was lost", () => {
    const { ledger, losses, reports } = watch();
    ledger.queue();
    ledger.send(1);
    ledger.confirm(1);
    losses.total("exit");
    expect(reports.all).toEqual([]);
  });
});
