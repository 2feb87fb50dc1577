import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Bridge } from "../../src/index.ts";
import { EVENT_IDS } from "../audit/support/figures.ts";
import { FIGURES } from "./figures.ts";
import { readPage, section, tableRows } from "./pages.ts";

const page = readPage("docs/limits.md");

const SECTIONS = [
  "Runs and calls",
  "What spans carry",
  "Metrics",
  "Log records",
  "On the way out",
  "Reading recordings",
  "Runs that are shown",
  "Sinks",
  "The audit log",
  "The page of view and report",
];
const rows = SECTIONS.flatMap((heading) => tableRows(section(page, heading)));

beforeEach(() => {
  for (const name of Object.keys(FIGURES)) if (name.startsWith("OTEL_")) vi.stubEnv(name, "");
  vi.stubEnv("OTEL_TRACES_EXPORTER", "none");
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

describe("docs/limits.md", () => {
  it("has every limit", () => {
    const named = new Set(rows.map(([name = ""]) => name));
    expect([...named].toSorted()).toEqual(Object.keys(FIGURES).toSorted());
  });

  it.each(rows)("%s: %s", async (name = "", written = "") => {
    const figure = Number(/^[\d,]+/.exec(written)?.[0].replaceAll(",", ""));
    expect(await FIGURES[name]?.()).toBe(figure);
  });

  it("has the audit log's own count of event ids", async () => {
    expect(EVENT_IDS).toBe(await FIGURES.eventIds?.());
  });

  it("names counts that there are", () => {
    const { adjustments, ignored, ...counts } = new Bridge().diagnostics();
    const known = new Set([
      ...Object.keys(adjustments),
      ...Object.keys(ignored),
      ...Object.keys(counts),
    ]);
    const named = tableRows(section(page, "Runs and calls")).flatMap(([, , , count = ""]) =>
      count === "none" ? [] : count.split(", "),
    );
    const inText = [...page.matchAll(/`(?:adjustments|ignored)\.(\w+)`/g)].map(
      ([, count = ""]) => count,
    );
    expect([...named, ...inText].filter((count) => !known.has(count))).toEqual([]);
    expect(inText).toEqual(expect.arrayContaining(Object.keys(ignored)));
  });
});
