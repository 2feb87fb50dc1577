import { expect, it } from "vitest";
import { type Chain, LineSpool } from "../../../src/view/runs/line-spool.ts";
import { Folder } from "../../cli/support/folder.ts";

it("chains are copied to another file with their lines and tags in order, and go on there", () => {
  using folder = new Folder();
  const from = new LineSpool(folder.at("from"));
  const to = new LineSpool(folder.at("to"));
  const chains: Chain[] = [{ last: 0 }, { last: 0 }, { last: 0 }];
  const add = (spool: LineSpool, n: number) => {
    const chain = chains[n % 3];
    if (chain !== undefined) spool.add(`line ${n} é`, n % 2, chain);
  };
  for (let n = 0; n < 90; n += 1) {
    add(from, n);
    if (n % 20 === 0) from.flush();
  }
  const [one, left, other] = chains;
  if (one === undefined || left === undefined || other === undefined) throw new Error("no chain");
  const before = [from.read(one), from.read(other)];
  expect(before.map((lines) => lines.length)).toEqual([30, 30]);
  from.copyTo(to, [one, other]);
  from.close();
  expect([to.read(one), to.read(other)]).toEqual(before);
  expect([...to.all()]).toHaveLength(60);
  add(to, 90);
  expect(to.read(one)).toEqual([...(before[0] ?? []), { line: "line 90 é", tag: 0 }]);
  expect(to.bytes).toBeGreaterThan(60 * "line 1 é".length);
  to.close();
});

it("a closed file is not written or read: another one may have its number", () => {
  using folder = new Folder();
  const closed = new LineSpool(folder.at("closed"));
  const chain: Chain = { last: 0 };
  closed.add("waits", 0, chain);
  closed.close();
  const next = new LineSpool(folder.at("next"));
  expect(() => closed.read(chain)).toThrow("it is closed");
  expect(() => closed.flush()).toThrow("it is closed");
  expect(next.bytes).toBe(0);
  next.close();
});
