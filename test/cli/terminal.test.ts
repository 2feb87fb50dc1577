import { EventEmitter } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Progress } from "../../src/cli/replay/progress.ts";
import { Output } from "../../src/cli/terminal/output.ts";
import { count, counted, duration, table } from "../../src/cli/terminal/table.ts";
import { cutToWidth, padToWidth, safe, safeJson, widthOf } from "../../src/cli/terminal/text.ts";
import { nearest } from "../../src/events/door.ts";

class FakeStream extends EventEmitter {
  written = "";
  readonly isTTY: boolean;
  columns = 20;

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  full = false;

  write(text: string): boolean {
    this.written += text;
    return !this.full;
  }
}

describe("safe", () => {
  it.each([
    ["a\nb\tc\r", "a\\nb\\tc\\r"],
    ["\x1b[31m\x07\x00\x7f", "\\x1b[31m\\x07\\x00\\x7f"],
    ["\u0085\u009b", "\\x85\\x9b"],
    ["\u202eabc\u2066\u200f\u2028\ufeff\u200b", "\\u202eabc\\u2066\\u200f\\u2028\\ufeff\\u200b"],
    ["\ud800x", "\\ud800x"],
    ["\u{e0041}", "\\u{e0041}"],
    ["검색 👩‍👩‍👧 é", "검색 👩‍👩‍👧 é"],
  ])("%j becomes %j", (text, shown) => {
    expect(safe(text)).toBe(shown);
  });

  it("leaves nothing that a terminal acts on, in any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(safe(text)).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f]/u);
      }),
    );
  });

  it("keeps the value of JSON", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const json = safeJson(JSON.stringify([text]));
        expect(JSON.parse(json)).toEqual([text]);
        expect(json).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
      }),
    );
  });
});

describe("widths", () => {
  it.each([
    ["abc", 3],
    ["검색", 4],
    ["e\u0301", 1],
    ["👍", 2],
    ["├─ x", 4],
  ])("%j takes %i columns", (text, columns) => {
    expect(widthOf(text)).toBe(columns);
  });

  it("cuts and pads to columns", () => {
    expect(cutToWidth("abcdef", 4)).toBe("abc…");
    expect(cutToWidth("검색어", 4)).toBe("검…");
    expect(cutToWidth("abc", 3)).toBe("abc");
    expect(cutToWidth("abc", 0)).toBe("");
    expect(padToWidth("검", 4)).toBe("검  ");
  });
});

describe("table", () => {
  it("puts numbers to the right and wide characters in line", () => {
    expect(
      table([
        ["tenant", "failed"],
        ["검", "7"],
        ["acme", "12"],
      ]),
    ).toEqual(["tenant  failed", "검           7", "acme        12"]);
  });
});

describe("figures", () => {
  it.each([
    [[0, 0], "0 µs"],
    [[0, 850_000], "850 µs"],
    [[0, 9_400_000], "9.4 ms"],
    [[0, 41_000_000], "41 ms"],
    [[1, 200_000_000], "1.2 s"],
    [[90, 0], "2 min"],
    [[11_100, 0], "3 h 5 min"],
  ] as const)("%j is %s", (to, shown) => {
    expect(duration([0, 0], to)).toBe(shown);
  });

  it("counts with its noun", () => {
    expect([count(1234567), counted(1, "run"), counted(2, "run")]).toEqual([
      "1,234,567",
      "1 run",
      "2 runs",
    ]);
  });
});

describe("nearest", () => {
  it.each([
    ["replya", "replay"],
    ["capture", "capture-content"],
    ["rejcts", "rejects"],
    ["xyz", undefined],
  ])("%s means %s", (typed, meant) => {
    expect(nearest(typed, ["replay", "capture-content", "rejects", "out"])).toBe(meant);
  });
});

describe("Output", () => {
  it("is plain when piped, and with NO_COLOR", () => {
    const styled = (isTTY: boolean, env: Record<string, string>) =>
      new Output(new FakeStream(isTTY), env).style("red", "x");
    expect(styled(true, {})).toBe("\x1b[31mx\x1b[39m");
    expect(styled(true, { NO_COLOR: "1" })).toBe("x");
    expect(styled(true, { TERM: "dumb" })).toBe("x");
    expect(styled(false, {})).toBe("x");
  });

  it("says nothing more once its reader has gone", async () => {
    const stream = new FakeStream(false);
    const output = new Output(stream, {});
    output.line("one");
    stream.emit("error", new Error("EPIPE"));
    output.line("two");
    await output.drained();
    expect([stream.written, output.closed]).toEqual(["one\n", true]);
  });

  it("waits for a slow reader, and listens to its stream no more often for that", async () => {
    const stream = new FakeStream(false);
    const output = new Output(stream, {});
    stream.full = true;
    const listeners = stream.listenerCount("drain") + stream.listenerCount("error");
    for (let round = 0; round < 3; round++) {
      let waited = false;
      output.line("x");
      const drained = output.drained().then(() => {
        expect(waited).toBe(true);
      });
      waited = await Promise.resolve(true);
      stream.emit("drain");
      await drained;
    }
    expect(stream.listenerCount("drain") + stream.listenerCount("error")).toBe(listeners);
    await output.drained();
  });

  it("takes a terminal of 0 columns for one whose size nobody knows", () => {
    const stream = new FakeStream(true);
    const output = new Output(stream, {});
    stream.columns = 0;
    expect(output.columns).toBe(80);
    stream.columns = 5;
    expect(output.columns).toBe(20);
  });

  it("escapes JSON on a terminal only", () => {
    const [terminal, pipe] = [new FakeStream(true), new FakeStream(false)];
    for (const stream of [terminal, pipe]) new Output(stream, {}).json('"\u009b"');
    expect([terminal.written, pipe.written]).toEqual(['"\\u009b"\n', '"\u009b"\n']);
  });
});

describe("Progress", () => {
  it("is shown in place on a terminal, and taken away for other lines", () => {
    const stream = new FakeStream(true);
    stream.columns = 60;
    const progress = new Progress(new Output(stream, {}), 4_000_000);
    progress.addBytes(1_000_000);
    progress.show(1_234, 56);
    progress.show(1_235, 57);
    progress.clear();
    progress.clear();
    expect(stream.written).toBe("\r\x1b[K1,234 events, 56 spans, 1 MB (25 %)\r\x1b[K");
  });

  it("is silent when piped", () => {
    const stream = new FakeStream(false);
    const progress = new Progress(new Output(stream, {}), undefined);
    progress.show(1, 1);
    progress.clear();
    expect(stream.written).toBe("");
  });
});
