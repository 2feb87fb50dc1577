// Prints how many tests passed and failed, from the report of vitest's JSON reporter, as one line:
// `120 passed, 0 failed`. Exit 1 when one failed, when none ran, or when there is no report.
// node scripts/ci-summary.mjs REPORT
import { readFileSync } from "node:fs";

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error("REPORT: expected the path of vitest's JSON report");
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
const passed = count("numPassedTests");
const failed = count("numFailedTests") + unloaded.length;
const skipped = count("numPendingTests") + count("numTodoTests");

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = report.success === true && failed === 0 && passed > 0 ? 0 : 1;
