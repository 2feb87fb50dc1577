import { describe, expect, it } from "vitest";
import {
  type Count,
  commentTexts,
  countNames,
  countPhrases,
  helpTexts,
  pageTexts,
} from "./plain-words.ts";

/** Per thousand words. Lower it where a change removes phrases: the aim is 1 for each. */
const LIMITS: readonly (readonly [kind: string, count: () => Count, limit: number])[] = [
  ["pages", () => countPhrases(pageTexts()), 0.4],
  ["--help", () => countPhrases(helpTexts()), 1],
  ["docstrings", () => countPhrases(commentTexts("docstrings")), 0.2],
  ["comments", () => countPhrases(commentTexts("comments")), 0.3],
  ["names", countNames, 0.5],
];

/** `ENTELIX_PHRASES=src/audit` lists all phrases in files whose path begins so, and none may be there. */
const path = process.env.ENTELIX_PHRASES;

function below({ words, found }: Count): Count {
  return { words, found: found.filter(({ file }) => file.startsWith(path ?? "")) };
}

function shown({ found }: Count): string {
  const lines = found.map(({ file, line, phrase }) => `${file}:${line} ${phrase}`);
  return lines.slice(0, path === undefined ? 20 : undefined).join("\n");
}

describe("plain words", () => {
  it.each(LIMITS)("%s have few of the listed phrases", (_kind, count, limit) => {
    const counted = below(count());
    const rate = (1000 * counted.found.length) / counted.words;
    expect(counted.words).toBeGreaterThan(500);
    expect(rate, `${rate.toFixed(2)} per 1,000 words:\n${shown(counted)}`).toBeLessThanOrEqual(
      path === undefined ? limit : 0,
    );
  });
});
