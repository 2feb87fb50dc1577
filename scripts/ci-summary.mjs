// Prints the ten slowest test files of each report of vitest's JSON reporter, and last how many tests passed and
// failed, as one line: `120 passed, 0 failed`. Exit 1 when one failed, when a report has none, or when one is not
// there. node scripts/ci-summary.mjs REPORT…
import { readFileSync } from "node:fs";
import { basename, relative } from "node:path";

const paths = process.argv.slice(2);
if (paths.length === 0) throw new Error("REPORT…: expected the paths of vitest's JSON reports");

function totalsOf(path) {
  const report = JSON.parse(readFileSync(path, "utf8"));
  const count = (field) => {
    const value = report[field];
    if (Number.isSafeInteger(value)) return value;
    throw new Error(`${path}: ${field}: expected a whole number, got ${JSON.stringify(value)}`);
  };
  // A file that could not be loaded has no tests to count: it is one failure itself.
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  return {
    good: report.success === true,
    passed: count("numPassedTests"),
    failed: count("numFailedTests") + unloaded.length,
    skipped: count("numPendingTests") + count("numTodoTests"),
    slowest: slowestOf(path, report.testResults),
  };
}

/** The ten files that took longest, a line each. A file that could not be loaded has no times. */
function slowestOf(path, files) {
  const timed = files
    .filter(({ startTime, endTime }) => endTime > startTime)
    .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1000 }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, 10)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${relative(".", name)}`);
  return timed.length === 0 ? [] : [`slowest files of ${basename(path, ".json")}:`, ...timed];
}

const totals = paths.map(totalsOf);
const sum = (field) => totals.reduce((total, one) => total + one[field], 0);

for (const line of totals.flatMap((one) => one.slowest)) console.log(line);
const skipped = sum("skipped");
console.log(
  `${sum("passed")} passed, ${sum("failed")} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`,
);
const good = totals.every((one) => one.good && one.failed === 0 && one.passed > 0);
process.exitCode = good ? 0 : 1;
