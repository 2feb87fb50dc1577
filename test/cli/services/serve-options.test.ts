import { describe, expect, it } from "vitest";
import { countOption, Output } from "../../../src/cli/door.ts";
import {
  bytesOption,
  listenAddress,
  rateOption,
  urlOf,
} from "../../../src/cli/services/options.ts";
import { Reports } from "../../../src/cli/services/reports.ts";
import { isLocalHost, isLoopback } from "../../../src/service/door.ts";

describe("the options of serve", () => {
  it.each([
    ["127.0.0.1:4321", "127.0.0.1", 4321],
    ["localhost:0", "localhost", 0],
    ["[::1]:80", "::1", 80],
  ])("--listen %s", (text, host, port) => {
    expect(listenAddress(text)).toEqual({ host, port });
  });

  it.each(["", "4321", ":4321", "a:b", "a:65536", "::1:80", "[::1]", "a:1:2"])(
    "--listen %s is refused",
    (text) => {
      expect(() => listenAddress(text)).toThrow("--listen: expected HOST:PORT");
    },
  );

  it("has the address as others write it", () => {
    expect([urlOf("127.0.0.1", 1), urlOf("::1", 2)]).toEqual([
      "http://127.0.0.1:1",
      "http://[::1]:2",
    ]);
  });

  it("reads sizes, counts and rates", () => {
    const bytes = (text?: string) => bytesOption("--max-line", text, 7, 1, 2 ** 30);
    expect([bytes(), bytes("1"), bytes("2KiB"), bytes("3 mib"), bytes("1GiB")]).toEqual([
      7, 1, 2048, 3_145_728, 1_073_741_824,
    ]);
    for (const text of ["", "0", "2GiB", "1.5MiB", "1MB", "-1", "1e3", "x"]) {
      expect(() => bytes(text)).toThrow("--max-line: expected bytes from 1 to 1073741824");
    }
    expect([countOption("--n", undefined, 3, 0), countOption("--n", "0", 3, 0)]).toEqual([3, 0]);
    for (const text of ["", "-1", "1.5", "0x1"]) {
      expect(() => countOption("--n", text, 3, 0)).toThrow("--n: expected a whole number from 0");
    }
    expect(["1", "9"].map((text) => countOption("--n", text, 5, 1, 9))).toEqual([1, 9]);
    for (const text of ["0", "10", "1e0", " 1"]) {
      expect(() => countOption("--n", text, 5, 1, 9)).toThrow(
        "--n: expected a whole number from 1 to 9, got",
      );
    }
    expect([rateOption("--rate", undefined), rateOption("--rate", "0.5")]).toEqual([
      undefined,
      0.5,
    ]);
    for (const text of ["0", "-1", "1e3", "Infinity", ""]) {
      expect(() => rateOption("--rate", text)).toThrow("--rate: expected lines per second");
    }
  });

  it("knows this machine's own addresses", () => {
    for (const host of ["127.0.0.1", "127.1.2.3", "::1", "localhost"]) {
      expect(isLoopback(host)).toBe(true);
    }
    for (const host of [
      "0.0.0.0",
      "::",
      "10.0.0.1",
      "localhost.example",
      "127.0.0.1.example",
      "",
    ]) {
      expect(isLoopback(host)).toBe(false);
      expect(isLocalHost(`${host}:1`)).toBe(false);
    }
    expect([isLocalHost(undefined), isLocalHost("app.localhost:80")]).toEqual([false, true]);
  });
});

describe("reports", () => {
  it("tell of the same trouble once, and of another at once", () => {
    const lines: string[] = [];
    const stream = { write: (text: string) => lines.push(text.slice(25)) > 0, on: () => {} };
    const reports = new Reports(new Output(stream, {}));
    for (let times = 0; times < 3; times += 1) reports.error(new Error("away"), "spans");
    reports.error(new Error("away"), "audit log");
    reports.error(new Error("gone\u001b[2J"), "spans");
    expect(lines).toEqual(["spans: away\n", "audit log: away\n", "spans: gone\\x1b[2J\n"]);
  });
});
