import { describe, expect, it } from "vitest";
import { BatchWriter } from "../../../src/audit/postgres/batch-writer.ts";
import {
  isAboutData,
  isRefusal,
  type PgResult,
  sqlState,
} from "../../../src/audit/postgres/pg-pool.ts";
import { coded, FakePool } from "./support/fake-pool.ts";
import { call } from "./support/named-entries.ts";

const hash = "ab".repeat(32);
const ANSWER: PgResult = {
  rows: [
    { place: -1, ordinal: "4", hash: "00".repeat(32) },
    { place: 1, ordinal: "5", hash },
  ],
};

function writer(pool: FakePool, doubtMs = 10_000, collisionMs = 30_000): BatchWriter {
  return new BatchWriter({
    pool,
    schema: '"entelix"',
    durability: "batch",
    doubtMs,
    collisionMs,
  });
}

describe("BatchWriter", () => {
  it("sends what was to be written as parameters, and nothing of it in the statement", async () => {
    const pool = new FakePool(() => ANSWER);
    const told = await writer(pool).write([call("t'; drop table rows", "e1")]);
    expect(told).toEqual([{ ordinal: 5, hash }]);
    const [statement] = pool.statements;
    expect(statement?.text).toMatch(
      /^select place, .* from "entelix"\.append_rows\(\$1, .*\$13\)$/,
    );
    expect(statement?.text).not.toContain("drop");
    expect(statement?.values?.[1]).toBe("on 0");
    expect(pool.released).toEqual([false]);
  });

  it("sends one statement, however many rows and threads there are", async () => {
    const calls = Array.from({ length: 50 }, (_, n) => call(`t${n}`, "a", "b", "c"));
    const rows = Array.from({ length: 150 }, (_, n) => ({ place: n + 1, ordinal: "1", hash }));
    const pool = new FakePool(() => ({ rows }));
    expect(await writer(pool).write(calls)).toHaveLength(50);
    expect(pool.statements).toHaveLength(1);
  });

  it("asks again under the same id when the answer was lost", async () => {
    const lost = new Error("Connection terminated unexpectedly");
    const pool = new FakePool(
      () => lost,
      () => coded("57P01"),
      () => coded("53300", "too many"),
      () => ANSWER,
    );
    expect(await writer(pool).write([call("a", null)])).toEqual([{ ordinal: 5, hash }]);
    const ids = pool.statements.map(({ values }) => values?.[0]);
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(1);
    expect(pool.released).toEqual([true, true, true, false]);
    await writer(pool).write([call("a", null)]);
    expect(pool.statements.at(-1)?.values?.[0]).not.toBe(ids[0]);
  });

  it("says that it does not know when the server stays away, and why", async () => {
    const pool = new FakePool(() => coded("ECONNRESET", "read ECONNRESET"));
    await expect(writer(pool, 0).write([call("a", "1")])).rejects.toThrow(
      "they may be in the log or not (read ECONNRESET)",
    );
  });

  it("rejects at once with what the server refused, and where nothing was sent", async () => {
    const refusing = new FakePool(() => coded("53100", "disk full"));
    await expect(writer(refusing).write([call("a", "1")])).rejects.toThrow("disk full");
    expect(refusing.statements).toHaveLength(1);
    const away = new FakePool(() => ANSWER);
    away.connect = () => Promise.reject(coded("ECONNREFUSED", "connect ECONNREFUSED"));
    await expect(writer(away).write([call("a", "1")])).rejects.toThrow("connect ECONNREFUSED");
  });

  it("tries again where it met another transaction, and not for ever", async () => {
    const once = new FakePool(
      () => coded("40P01"),
      () => ANSWER,
    );
    expect(await writer(once).write([call("a", "1")])).toEqual([{ ordinal: 5, hash }]);
    expect(once.released).toEqual([false, false]);
    // As many as it takes: where transactions are isolated more, all but one writer meet another one.
    let left = 15;
    const often = new FakePool(() => (--left > 0 ? coded("40001", "serialization") : ANSWER));
    expect(await writer(often).write([call("a", "1")])).toEqual([{ ordinal: 5, hash }]);
    expect(often.statements).toHaveLength(15);
    expect(new Set(often.statements.map(({ values }) => values?.[0])).size).toBe(1);
    const always = new FakePool(() => coded("40001", "serialization"));
    await expect(writer(always, 10_000, 0).write([call("a", "1")])).rejects.toThrow(
      "serialization",
    );
    expect(always.statements).toHaveLength(1);
  });

  it("tells the calls of threads that were left out apart", async () => {
    const pool = new FakePool(() => ({
      rows: [
        { place: -2, ordinal: "4", hash },
        { place: 3, ordinal: "5", hash },
      ],
    }));
    const calls = [call("locked", "1", "2"), call("b", "3"), call("locked")];
    expect(await writer(pool).write(calls, 250)).toEqual([
      undefined,
      { ordinal: 5, hash },
      undefined,
    ]);
    expect(pool.statements[0]?.values?.[1]).toBe("on 250");
  });

  it("rejects with a lock on more than a thread, and keeps the connection", async () => {
    const pool = new FakePool(() => coded("55P03", "lock timeout"));
    await expect(writer(pool).write([call("a", "1")])).rejects.toThrow("lock timeout");
    expect(pool.statements).toHaveLength(1);
    expect(pool.released).toEqual([false]);
  });

  it("keeps asking where the first try of a batch still holds its locks", async () => {
    const pool = new FakePool(
      () => new Error("Connection terminated unexpectedly"),
      () => coded("55P03", "lock timeout"),
      () => ANSWER,
    );
    expect(await writer(pool).write([call("a", null)])).toEqual([{ ordinal: 5, hash }]);
  });

  it("takes no other answer than one to its entries", async () => {
    const none = new FakePool(() => ({ rows: [{ place: -1, ordinal: "0", hash }] }));
    await expect(writer(none).write([call("a", "1")])).rejects.toThrow("no answer for entry 1");
    const strange = new FakePool(() => ({ rows: [{ place: 1, ordinal: "x", hash }] }));
    await expect(writer(strange).write([call("a", "1")])).rejects.toThrow("something else");
  });
});

describe("errors", () => {
  it("are the server's by their five characters, and refusals unless the end of it", () => {
    const states = ["23505", "57P01", "08006", "EPIPE", "ECONNRESET", "57014"];
    expect(states.map((code) => sqlState(coded(code)))).toEqual([
      "23505",
      "57P01",
      "08006",
      undefined,
      undefined,
      "57014",
    ]);
    expect(states.map((code) => isRefusal(coded(code)))).toEqual([
      true,
      false,
      false,
      false,
      false,
      true,
    ]);
    expect(
      ["22021", "23000", "54000", "53100", "EPIPE"].map((code) => isAboutData(coded(code))),
    ).toEqual([true, true, true, false, false]);
    expect(sqlState("57P01")).toBeUndefined();
  });
});
