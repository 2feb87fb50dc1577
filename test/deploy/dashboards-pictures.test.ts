import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readDashboard } from "../../deploy/grafana/check/dashboard.ts";
import { drawBoard } from "../../deploy/grafana/check/draw/board.ts";
import { indexedPng } from "../../deploy/grafana/check/draw/indexed-png.ts";
import { valueText } from "../../deploy/grafana/check/draw/value-text.ts";
import type { PanelData } from "../../deploy/grafana/check/panel-data.ts";
import { panelProblems } from "../../deploy/grafana/check/panel-problems.ts";
import type { Choice } from "../../deploy/grafana/check/query-text.ts";
import { sampleWorkload } from "../../deploy/grafana/check/sample/workload.ts";

const ROOT = join(import.meta.dirname, "../..");
const overview = readDashboard(
  readFileSync(join(ROOT, "deploy/grafana/dashboards/entelix-overview.json"), "utf8"),
);
const RANGE = { from: 0, to: 3_600 };
const choices = new Map<string, Choice>([["tenant", { kind: "all", pattern: ".*" }]]);

/** One series in answer to every query of a panel. */
function answered(title: string, points: readonly (readonly [number, number])[]): PanelData {
  const panel = overview.panels.find((each) => each.title === title);
  if (panel === undefined) throw new Error(`no panel ${title}`);
  const labels = { job: "desk", entelix_failure_kind: "internal", gen_ai_agent_name: "a<b" };
  return {
    step: 300,
    answers: panel.targets.map((target) => ({ target, series: [{ labels, points }] })),
  };
}

describe("readDashboard", () => {
  it("reads what the checks need", () => {
    const panel = overview.panels.find(({ title }) => title === "Failed root runs by failure kind");
    expect(panel).toMatchObject({ type: "timeseries", bars: true, stacked: true, unit: "short" });
    expect(panel?.grid).toEqual({ x: 0, y: 6, w: 12, h: 8 });
    expect(panel?.colors.find(({ pattern }) => pattern.test("internal desk"))?.color).toBe(
      "dark-red",
    );
  });

  it.each([
    ['{"uid":1}', "dashboard.uid: expected text, got 1"],
    ['{"uid":"a","title":"b","templating":{"list":{}}}', "templating.list: expected a list"],
    ["[]", "dashboard.uid: expected text, got nothing"],
    ["null", "dashboard: expected an object, got null"],
  ])("says where %s is wrong", (text, message) => {
    expect(() => readDashboard(text)).toThrow(message);
  });
});

describe("panelProblems", () => {
  const title = "Failed root runs by failure kind";
  const panel = overview.panels.find((each) => each.title === title);
  if (panel === undefined) throw new Error("expected the panel");

  it("finds none where there are numbers with the labels that are shown", () => {
    expect(panelProblems(panel, answered(title, [[300, 0]]))).toEqual([]);
  });

  it("finds a query without a number", () => {
    expect(panelProblems(panel, answered(title, []))).toEqual([`${title} A: no data`]);
    expect(panelProblems(panel, answered(title, [[300, Number.NaN]]))).toEqual([
      `${title} A: no data`,
    ]);
  });

  it("finds a label that is shown and is not there", () => {
    const [answer] = answered(title, []).answers;
    if (answer === undefined) throw new Error("expected an answer");
    const series = [{ labels: { job: "desk" }, points: [[300, 1] as const] }];
    expect(panelProblems(panel, { step: 300, answers: [{ ...answer, series }] })).toEqual([
      `${title} A: no series has the label entelix_failure_kind`,
      `${title} A: no series has the label entelix_failure_kind`,
    ]);
  });
});

describe("drawBoard", () => {
  const data = new Map(
    overview.panels
      .filter(({ type }) => type !== "row")
      .map(({ id, title }) => [
        id,
        answered(title, [
          [300, 2],
          [600, 3],
        ]),
      ]),
  );

  it("draws every panel at its place, with its numbers", () => {
    const { height, svg, width } = drawBoard(overview, data, choices, RANGE);
    for (const { title } of overview.panels) expect(svg).toContain(title.slice(0, 20));
    expect(width).toBe(1206);
    expect(height).toBeGreaterThan(1_400);
    // Two bars, one in the colour of the failure kind; a kind's name with its service in the legend.
    expect(svg.match(/<rect [^>]*fill="#c4162a"\/>/g)?.length).toBeGreaterThanOrEqual(2);
    expect(svg).toContain("internal desk");
    expect(svg).toContain(">200%<");
  });

  it("writes names as text, whatever is in them", () => {
    const { svg } = drawBoard(overview, data, choices, RANGE);
    expect(svg).toContain("a&#60;b");
    expect(svg).not.toContain("a<b");
  });

  it("refuses a panel whose data was not asked for", () => {
    expect(() => drawBoard(overview, new Map(), choices, RANGE)).toThrow("no data was fetched");
  });
});

describe("valueText", () => {
  it.each([
    [0.0683, "percentunit", undefined, "6.8%"],
    [0.4, "s", undefined, "400 ms"],
    [47.81, "s", 1, "47.8 s"],
    [90, "s", undefined, "1.5 min"],
    [5_400_000, "short", 1, "5.4 Mil"],
    [12, "short", undefined, "12"],
    [0.041, "currencyUSD", 4, "$0.0410"],
    [84_000_000, "bytes", undefined, "80 MiB"],
    [Number.NaN, "short", undefined, "–"],
  ])("writes %d %s with %s decimals as %s", (value, unit, decimals, expected) => {
    expect(valueText(value, unit, decimals)).toBe(expected);
  });
});

describe("the sample", () => {
  it("is the same each time, and has failures, pauses and a process that is replaced", () => {
    const time = { from: 1_000_000, to: 1_000_000 + 6 * 3_600 };
    const [one, two] = [sampleWorkload(time), sampleWorkload(time)].map((each) => [...each.text()]);
    expect(one).toEqual(two);
    expect(one?.at(-1)).toBe("# EOF\n");
    const text = one?.join("") ?? "";
    expect(text).toMatch(/entelix_runs_total\{[^}]*instance="support-desk-2"[^}]*"interrupted"/);
    expect(text).toMatch(/entelix_failure_kind="model_dispatch"[^}]*\} [1-9]/);
  });
});

describe("the pictures in docs", () => {
  it("are one for each dashboard, small, with a palette", () => {
    const folder = join(ROOT, "docs/images");
    const boards = readdirSync(join(ROOT, "deploy/grafana/dashboards"));
    expect(readdirSync(folder)).toEqual(boards.map((name) => name.replace(".json", ".png")));
    for (const name of readdirSync(folder)) {
      expect(statSync(join(folder, name)).size, name).toBeLessThan(150_000);
      expect(readFileSync(join(folder, name)).subarray(24, 26), name).toEqual(Buffer.from([8, 3]));
    }
  });
});

describe("indexedPng", () => {
  /** Two lines of two pixels, each line by another rule. */
  const lines = Buffer.from([...[1, 10, 20, 30, 0, 0, 0], ...[2, 245, 235, 225, 0, 0, 0]]);

  it("keeps the pixels of a picture with few colours", () => {
    const small = indexedPng(png(2, lines));
    const [palette, pixels] = [chunkOf(small, "PLTE"), inflateSync(chunkOf(small, "IDAT"))];
    const color = (at: number) => [...palette.subarray(at * 3, at * 3 + 3)];
    expect([1, 2, 4, 5].map((at) => color(pixels[at] ?? -1))).toEqual([
      [10, 20, 30],
      [10, 20, 30],
      [255, 255, 255],
      [10, 20, 30],
    ]);
  });

  it("refuses what it can't read", () => {
    expect(() => indexedPng(png(0, lines))).toThrow("expected RGB or RGBA");
    expect(() => indexedPng(Buffer.alloc(20))).toThrow("expected a header");
    const strange = Buffer.from(lines);
    strange[0] = 9;
    expect(() => indexedPng(png(2, strange))).toThrow("filter from 0 to 4");
  });

  function png(kind: number, data: Buffer): Buffer {
    const header = Buffer.alloc(13);
    header.writeUInt32BE(2, 0);
    header.writeUInt32BE(2, 4);
    header.set([8, kind, 0, 0, 0], 8);
    return Buffer.concat([
      Buffer.alloc(8),
      chunk("IHDR", header),
      chunk("IDAT", deflateSync(data)),
      chunk("IEND", Buffer.alloc(0)),
    ]);
  }

  function chunk(type: string, data: Buffer): Buffer {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
  }

  function chunkOf(file: Buffer, type: string): Buffer {
    const at = file.indexOf(type);
    return file.subarray(at + 4, at + 4 + file.readUInt32BE(at - 4));
  }
});
