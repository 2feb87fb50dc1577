import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { retryAfterMs } from "../../../src/events/errors/thrown-http.ts";

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0);

function wait(value: unknown): number | undefined {
  return retryAfterMs({ "retry-after": value }, NOW);
}

describe("retry-after", () => {
  it.each([
    ["7", 7000],
    [" 7 ", 7000],
    [7, 7000],
    ["0.5", 500],
    [["12", "99"], 12_000],
    ["Sat, 21 Nov 2026 12:00:30 GMT", 30_000],
    ["Saturday, 21-Nov-26 12:00:30 GMT", 30_000],
    ["Sat Nov 21 12:00:30 2026", 30_000],
  ])("%j asks for %d ms", (value, ms) => {
    expect(wait(value)).toBe(ms);
  });

  it.each([
    "",
    "0",
    "-3",
    "soon",
    "7a",
    "1e3",
    "99999999999999999999",
    "Sat, 21 Nov 2026 11:59:59 GMT",
    "Sat, 99 Nov 2026 11:59:59 GMT",
    "2026-11-21T13:00:00Z",
    "2026-11-22 13:00:00",
    null,
    {},
    [],
  ])("%j asks for nothing", (value) => {
    expect(wait(value)).toBeUndefined();
  });

  it("reads a date without a zone as GMT, wherever the process runs", () => {
    const zone = process.env.TZ;
    process.env.TZ = "Asia/Seoul";
    try {
      expect(wait("Sat Nov 21 12:00:30 2026")).toBe(30_000);
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  it("prefers milliseconds", () => {
    const headers = { "retry-after": "9", "retry-after-ms": "1250" };
    expect(retryAfterMs(headers, NOW)).toBe(1250);
    expect(retryAfterMs({ ...headers, "retry-after-ms": "none" }, NOW)).toBe(9000);
  });

  it.each([
    ["Headers", new Headers({ "Retry-After": "3" })],
    ["a Map", new Map([["retry-after", "3"]])],
    ["a Map in capitals", new Map([["Retry-After", "3"]])],
    ["an object in capitals", { "Retry-After": "3" }],
    [
      "an AxiosHeaders-like object",
      { get: (name: string) => (name === "retry-after" ? "3" : null) },
    ],
  ])("reads %s", (_, headers) => {
    expect(retryAfterMs(headers, NOW)).toBe(3000);
  });

  it("reads nothing from hostile headers, and does not throw", () => {
    const throwing = {
      get() {
        throw new Error("no");
      },
    };
    const revocable = Proxy.revocable({}, {});
    revocable.revoke();
    expect(retryAfterMs(throwing, NOW)).toBeUndefined();
    expect(retryAfterMs(revocable.proxy, NOW)).toBeUndefined();
  });

  it("is a positive, finite time or none, for any text", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const ms = wait(value);
        expect(ms === undefined || (Number.isFinite(ms) && ms > 0)).toBe(true);
      }),
    );
  });
});
