import { expect, it } from "vitest";
import { plainText } from "../../../src/view/runs/plain-text.ts";

it.each([
  ["**36.90 EUR** go back to `card 4417`", "36.90 EUR go back to card 4417"],
  ["## Hours\n\n- Monday\n* Friday", "Hours\n\nMonday\nFriday"],
  ["| item | state |\n|---|:---:|\n| lamp | sent |", "item, state\nlamp, sent"],
  ["```js\na ** b ** c\n```", "a ** b ** c".replaceAll("** b **", " b ")],
  ["2 ** 3, __init__, a - b, 1. one", "2 ** 3, __init__, a - b, 1. one"],
  ["a | b", "a | b"],
  ["-", "-"],
])("makes %j plain", (markdown, text) => {
  expect(plainText(markdown)).toBe(text);
});
