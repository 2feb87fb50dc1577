import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { textBytes } from "../../../src/replay/input/byte-source.ts";

it.each([
  ["plain", (text: string) => Buffer.from(text)],
  ["gzip", (text: string) => gzipSync(text)],
])("closes its source if the caller reads the first piece only: %s", async (_, encoded) => {
  let closed = 0;
  async function* source() {
    try {
      for (;;) yield encoded("first\n");
    } finally {
      closed += 1;
    }
  }
  for await (const piece of textBytes(source())) {
    expect(piece.toString()).toBe("first\n");
    break;
  }
  expect(closed).toBe(1);
});
