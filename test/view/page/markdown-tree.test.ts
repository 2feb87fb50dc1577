import { describe, expect, it } from "vitest";
import {
  LONGEST_MARKDOWN,
  markdownTree,
  safeAddress,
} from "../../../src/view/page/shell/markdown-tree.ts";

/** The types of all nodes, in the order of the text. */
function typesIn(node: unknown): readonly string[] {
  if (typeof node !== "object" || node === null || !("type" in node)) return [];
  const children = "children" in node && Array.isArray(node.children) ? node.children : [];
  return [String(node.type), ...children.flatMap(typesIn)];
}

const types = (text: string) => typesIn(markdownTree(text)).slice(1).join(" ");

describe("the tree of a Markdown text", () => {
  it.each([
    ["# Head", "heading text"],
    ["Order **17** is *late*", "paragraph text strong text text emphasis text"],
    ["- one\n- [x] two", "list listItem paragraph text listItem paragraph text"],
    [
      "| a | b |\n|---|---|\n| 1 | 2 |",
      "table tableRow tableCell text tableCell text tableRow tableCell text tableCell text",
    ],
    ["```js\nx\n```", "code"],
    ["<b>x</b>", "paragraph html text html"],
    ["see https://example.com/a", "paragraph text link text"],
    ["www.example.com, ann@example.com", "paragraph link text text link text"],
    ["![alt](http://evil.example/a.png)", "paragraph image"],
    ["~~gone~~ and ~kept~", "paragraph delete text text"],
  ])("of %j", (text, expected) => {
    expect(types(text)).toBe(expected);
  });

  it("has the addresses of bare links", () => {
    const text = "www.example.com/a ann@example.com https://example.com/b";
    const addresses = JSON.stringify(markdownTree(text)).match(/"url":"[^"]+"/g);
    expect(addresses).toEqual([
      '"url":"http://www.example.com/a"',
      '"url":"mailto:ann@example.com"',
      '"url":"https://example.com/b"',
    ]);
  });

  it.each([
    ["10,000 quotes in each other", ">".repeat(10_000)],
    ["10,000 quotes with spaces", "> ".repeat(10_000)],
    ["10,000 lists in each other", "- ".repeat(10_000)],
    ["10,000 numbered lists in each other", "1. ".repeat(10_000)],
    ["100,000 stars", "*".repeat(100_000)],
    ["stars that open and never close", "*a ".repeat(10_000)],
    ["brackets that open and never close", "[".repeat(40_000)],
    [
      "backticks of growing length",
      Array.from({ length: 280 }, (_, n) => `${"`".repeat(n)} `).join(""),
    ],
    ["20,000 lines after a quote", `> a\n${"b\n".repeat(9_000)}`],
    ["5,000 underlined titles", "a\n-\n".repeat(4_500)],
    ["plain text", "Order 17 was delivered. It's fine, thanks!\n\nBye (see you)."],
    ["5 MB", "a **b** ".repeat(650_000)],
    ["more than the limit", `**a**${" ".repeat(LONGEST_MARKDOWN)}`],
  ])("is not made of %s", (_, text) => {
    expect(markdownTree(text)).toBeUndefined();
  });

  it("is made of long texts", () => {
    const text = "A **bold** word, `code`, a [link](https://example.com).\n\n".repeat(200);
    expect(markdownTree(text)?.children).toHaveLength(200);
  });
});

describe("the address of a link", () => {
  it.each([
    ["https://example.com/a?b=c", "https://example.com/a?b=c"],
    ["HTTP://EXAMPLE.com", "http://example.com/"],
    ["mailto:ann@example.com", "mailto:ann@example.com"],
    ["javascript:alert(1)", undefined],
    ["JaVaScRiPt:alert(1)", undefined],
    ["java\nscript:alert(1)", undefined],
    ["data:text/html,<script>", undefined],
    ["file:///etc/passwd", undefined],
    ["//example.com", undefined],
    ["/relative", undefined],
    ["#/run/x", undefined],
    ["", undefined],
  ])("%j is %j", (address, expected) => {
    expect(safeAddress(address)).toBe(expected);
  });
});
