import { setFlagsFromString } from "node:v8";
import { expect, it } from "vitest";
import { fromMilliseconds, now } from "../../../src/events/door.ts";

// The engine's own word for it: `Number.isInteger` is true of both.
setFlagsFromString("--allow-natives-syntax");
const holdsWholeNumbers = new Function("list", "return %HasSmiElements(list)");
setFlagsFromString("--no-allow-natives-syntax");

it("is read as whole numbers, as all instants are, so that none is copied where several are read", () => {
  const read = Array.from({ length: 1000 }, now);
  expect(read.filter((at) => !holdsWholeNumbers(at))).toEqual([]);
  expect(holdsWholeNumbers(fromMilliseconds(1_777_464_000_250))).toBe(true);
});
