import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const script = fileURLToPath(new URL("../../scripts/ci-summary.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "entelix-otel-summary-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the script says about a report, which is all right but for what is given. */
function summaryOf(report: Readonly<Record<string, unknown>>) {
  const path = join(folder, "report.json");
  const whole = {
    numPassedTests: 12,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    success: true,
    testResults: [],
    ...report,
  };
  writeFileSync(path, JSON.stringify(whole));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, path]);
  return { status, stdout: stdout.toString(), stderr: stderr.toString() };
}

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((test) => ({ status: test })),
});

describe("the closing line of CI", () => {
  it("counts what passed", () => {
    expect(summaryOf({})).toEqual({ status: 0, stdout: "12 passed, 0 failed\n", stderr: "" });
  });

  it("names skipped tests only where there are any", () => {
    const { status, stdout } = summaryOf({ numPendingTests: 2, numTodoTests: 1 });
    expect([status, stdout]).toEqual([0, "12 passed, 0 failed, 3 skipped\n"]);
  });

  it("fails where a test failed", () => {
    const testResults = [file("passed", "passed"), file("failed", "failed", "passed")];
    const { status, stdout } = summaryOf({ numFailedTests: 1, success: false, testResults });
    expect([status, stdout]).toEqual([1, "12 passed, 1 failed\n"]);
  });

  it("counts a file that could not be loaded, or whose set-up failed, as one failure", () => {
    const testResults = [file("failed"), file("failed", "skipped"), file("failed", "failed")];
    const { status, stdout } = summaryOf({ numFailedTests: 1, success: false, testResults });
    expect([status, stdout]).toEqual([1, "12 passed, 3 failed\n"]);
  });

  it("names the ten slowest files before it", () => {
    const testResults = Array.from({ length: 12 }, (_, n) => ({
      ...file("passed", "passed"),
      name: `test/file-${n}.test.ts`,
      startTime: 1_000,
      endTime: 1_000 + 500 * n,
    }));
    const lines = summaryOf({ testResults }).stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(12);
    expect(lines.slice(0, 2)).toEqual([
      "slowest files of report:",
      "    5.5 s  test/file-11.test.ts",
    ]);
    expect(lines.at(-1)).toBe("12 passed, 0 failed");
  });

  it("fails where no test ran", () => {
    const { status, stdout } = summaryOf({ numPassedTests: 0 });
    expect([status, stdout]).toEqual([1, "0 passed, 0 failed\n"]);
  });

  it("fails where vitest itself was not content", () => {
    expect(summaryOf({ success: false }).status).toBe(1);
  });

  it("prints no line for a report that lacks a count", () => {
    const { status, stdout, stderr } = summaryOf({ numFailedTests: undefined });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("numFailedTests: expected a whole number, got undefined");
  });
});
