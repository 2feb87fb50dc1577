import { rm } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeFileLayer, type RemovingFileLayer } from "../../../src/audit/door.ts";
import { EventJournal } from "../../../src/service/journal/event-journal.ts";
import type { LogLine } from "../../../src/service/journal/log-line.ts";
import { waitFor } from "../../support/wait-for.ts";
import { all, line, lines, temporaryFolder } from "./support/lines.ts";

let directory: string;

beforeEach(async () => {
  directory = await temporaryFolder();
});

afterEach(() => rm(directory, { recursive: true }));

/** The disk, with the calls of `read` and `close` for the files of lines that readers have opened. */
function counting() {
  const calls: string[] = [];
  const fileLayer: RemovingFileLayer = new Proxy(nodeFileLayer, {
    get: (layer, name) => {
      if (name !== "open") return Reflect.get(layer, name);
      return async (path: string, mode: "read" | "update" | "create") => {
        const file = await layer.open(path, mode);
        if (file === undefined || mode !== "read" || !path.includes("lines-")) return file;
        return new Proxy(file, {
          get: (target, method) => {
            const value: unknown = Reflect.get(target, method);
            if (typeof value !== "function") return value;
            return (...args: unknown[]) => {
              calls.push(String(method));
              return Reflect.apply(value, target, args);
            };
          },
        });
      };
    },
  });
  return { calls, fileLayer };
}

/** Follows until it is stopped. `turn` is waited for before each batch is asked for. */
function follow(journal: EventJournal, from: number, turn: () => Promise<void> = async () => {}) {
  const stop = new AbortController();
  const seen: LogLine[] = [];
  const ended = (async () => {
    for await (const batch of journal.follow(from, stop.signal)) {
      seen.push(...batch);
      await turn();
    }
  })();
  const end = async () => {
    stop.abort();
    await ended;
  };
  return { seen, end };
}

describe("a follower", () => {
  it("gets written lines from memory once it has read the files", async () => {
    const { calls, fileLayer } = counting();
    const journal = await EventJournal.open(directory, { fileLayer, segmentBytes: 4096 });
    await journal.append(lines(3));
    calls.length = 0;
    const { end, seen } = follow(journal, 1);
    await waitFor(() => expect(calls).toContain("close"));
    calls.length = 0;
    for (let n = 0; n < 30; n += 1) await journal.append(lines(50, `${n} `));
    await waitFor(() => expect(seen.length).toBe(1502));
    expect(calls).toEqual([]);
    await end();
    expect(seen).toEqual(await all(journal.read(1)));
    await journal.close();
  });

  it("that is slow misses nothing: it reads from the files what memory had no room for", async () => {
    const { calls, fileLayer } = counting();
    const journal = await EventJournal.open(directory, { fileLayer });
    let goOn = () => {};
    let paused: Promise<void> | undefined;
    const { end, seen } = follow(journal, 0, async () => paused);
    await journal.append([line("first")]);
    await waitFor(() => expect(seen.length).toBe(1));
    for (let round = 0; round < 2; round += 1) {
      paused = new Promise((resolve) => {
        goOn = resolve;
      });
      calls.length = 0;
      const long = "x".repeat(1024 * 1024);
      for (let n = 0; n < 12; n += 1) {
        await journal.append([line(`${round} ${n} ${long}`), ...lines(5, `${n} `)]);
      }
      goOn();
      await waitFor(() => expect(seen.length).toBe(journal.next));
      expect(calls).toContain("read");
      await journal.append(lines(1, "in between"));
      await waitFor(() => expect(seen.length).toBe(journal.next));
    }
    await end();
    const offsets = seen.map(({ offset }) => offset);
    expect(offsets).toEqual(offsets.map((_, at) => at));
    expect(seen.map(({ text }) => text)).toEqual(
      (await all(journal.read(0))).map(({ text }) => text),
    );
    await journal.close();
  });

  it("gets no line of a write that failed, and each line once", async () => {
    const journal = await EventJournal.open(directory);
    const ahead = follow(journal, 4);
    const whole = follow(journal, 0);
    await expect(journal.append([line("a\nb")])).rejects.toThrow("no line feed");
    await Promise.all([journal.append(lines(3, "a")), journal.append(lines(3, "b"))]);
    await waitFor(() => expect([whole.seen.length, ahead.seen.length]).toEqual([6, 2]));
    await Promise.all([whole.end(), ahead.end()]);
    expect(ahead.seen.map(({ offset, text }) => `${offset} ${text}`)).toEqual(["4 b1", "5 b2"]);
    expect(whole.seen.map(({ text }) => text)).toEqual(["a0", "a1", "a2", "b0", "b1", "b2"]);
    await journal.close();
  });
});
