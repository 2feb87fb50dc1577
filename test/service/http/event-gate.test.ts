import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IdCache } from "../../../src/bridge/door.ts";
import { type CheckedLine, EventGate } from "../../../src/service/http/event-gate.ts";
import { Backlog } from "../../../src/service/http/journal-feed.ts";
import { Refusal } from "../../../src/service/http/refusal.ts";
import { MemoryJournal } from "./support/door.ts";

function line(eventId: string | undefined, tenant = "acme"): CheckedLine {
  const text = `${tenant} ${eventId}`;
  return {
    tenant,
    eventId,
    line: { text, tenant, dialect: undefined, key: undefined, trusted: false },
  };
}

function gateOn(journal: MemoryJournal) {
  const errors: unknown[] = [];
  const refused: { reason?: Refusal } = {};
  const backlog = new Backlog();
  const ids = new IdCache(1000);
  const gate = new EventGate({
    journal,
    ids,
    backlog,
    refusal: () => refused.reason,
    onAppend: (error) => void errors.push(error),
  });
  const take = async (lines: readonly CheckedLine[]) => {
    const told: string[] = [];
    await gate.take(lines, (each, outcome) => void told.push(`${each.line.text} ${outcome}`));
    return told.toSorted();
  };
  return { gate, take, errors, backlog, refused };
}

/** A promise that is settled from outside. */
function door() {
  let open = () => {};
  let shut = (_error: Error) => {};
  const passed = new Promise<void>((resolve, reject) => {
    open = resolve;
    shut = reject;
  });
  return { passed, open, shut };
}

describe("the gate to the journal", () => {
  it("takes each event id of a tenant once, and every line without one", async () => {
    const journal = new MemoryJournal();
    const { take, backlog } = gateOn(journal);
    expect(await take([line("a"), line("a"), line("a", "globex"), line(undefined)])).toEqual([
      "acme a accepted",
      "acme a duplicate",
      "acme undefined accepted",
      "globex a accepted",
    ]);
    expect(await take([line("a"), line(undefined)])).toEqual([
      "acme a duplicate",
      "acme undefined accepted",
    ]);
    expect(journal.lines.map(({ text }) => text)).toEqual([
      "acme a",
      "globex a",
      "acme undefined",
      "acme undefined",
    ]);
    expect(backlog.bytes).toBe("acme aglobex aacme undefinedacme undefined".length);
  });

  it("has a line wait for an equal one that is under way", async () => {
    const journal = new MemoryJournal();
    const { passed, open } = door();
    journal.before = () => passed;
    const { take } = gateOn(journal);
    const first = take([line("a")]);
    const second = take([line("a"), line("b")]);
    await Promise.resolve();
    expect(journal.appends).toBe(2);
    open();
    expect(await first).toEqual(["acme a accepted"]);
    expect(await second).toEqual(["acme a duplicate", "acme b accepted"]);
    expect(journal.lines.map(({ text }) => text)).toEqual(["acme a", "acme b"]);
  });

  it("has the second of them take the line when the first could not", async () => {
    const journal = new MemoryJournal();
    const { passed, shut } = door();
    journal.before = () => passed;
    const { take, errors } = gateOn(journal);
    const first = take([line("a")]);
    const second = take([line("a")]);
    journal.before = async () => {};
    shut(new Error("ENOSPC"));
    await expect(first).rejects.toMatchObject({ code: "store", retryAfter: 5 });
    expect(await second).toEqual(["acme a accepted"]);
    expect(errors).toEqual([new Error("ENOSPC"), undefined]);
    expect(await take([line("a")])).toEqual(["acme a duplicate"]);
  });

  it("tells of what is durable, also where the rest could not be written", async () => {
    const journal = new MemoryJournal();
    const before = door();
    journal.before = () => before.passed;
    const { gate, take } = gateOn(journal);
    const first = take([line("a")]);
    const told: string[] = [];
    let appends = 0;
    journal.before = async () => {
      appends += 1;
      if (appends > 1) throw new Error("ENOSPC");
    };
    const second = gate.take([line("b"), line("a")], (each, outcome) => {
      told.push(`${each.line.text} ${outcome}`);
    });
    before.shut(new Error("ENOSPC"));
    await expect(first).rejects.toMatchObject({ code: "store" });
    await expect(second).rejects.toMatchObject({ code: "store" });
    expect(told).toEqual(["acme b accepted"]);
    expect(journal.lines.map(({ text }) => text)).toEqual(["acme b"]);
  });

  it("takes nothing while it is told not to", async () => {
    const journal = new MemoryJournal();
    const { take, refused } = gateOn(journal);
    refused.reason = new Refusal("backlog", "full");
    await expect(take([line("a")])).rejects.toBe(refused.reason);
    expect(journal.appends).toBe(0);
    delete refused.reason;
    expect(await take([line("a")])).toEqual(["acme a accepted"]);
  });

  it("never has an id twice in the journal, nor loses one it told of", async () => {
    const group = fc.array(fc.constantFrom("a", "b", "c", "d", undefined), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(group, { maxLength: 8 }),
        fc.array(fc.boolean(), { maxLength: 20 }),
        async (groups, failures) => {
          const journal = new MemoryJournal();
          const fails = [...failures];
          journal.before = async () => {
            if (fails.shift() === true) throw new Error("EIO");
          };
          const { gate } = gateOn(journal);
          const told: string[] = [];
          const takes = groups.map((ids) =>
            gate.take(
              ids.map((id) => line(id)),
              (each) => void told.push(each.line.text),
            ),
          );
          await Promise.allSettled(takes);
          const texts = journal.lines.map(({ text }) => text);
          const named = texts.filter((text) => text !== "acme undefined");
          expect(new Set(named).size).toBe(named.length);
          expect(told.filter((text) => !texts.includes(text))).toEqual([]);
        },
      ),
    );
  });
});
