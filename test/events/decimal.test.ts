import { expect, it } from "vitest";
import { roundedText } from "../../src/events/decimal.ts";

it.each([
  [0.1 + 0.2, "0.3"],
  [5, "5"],
  [100, "100"],
  [0, "0"],
  [1e-13, "0"],
  [0.000000000001, "0.000000000001"],
  [12.5, "12.5"],
  [1e30, "1e+30"],
])("%d with at most 12 places is %s", (value, text) => {
  expect(roundedText(value, 12)).toBe(text);
});
