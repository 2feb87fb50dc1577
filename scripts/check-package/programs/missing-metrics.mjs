import assert from "node:assert/strict";

/** Loads `entelix-otel/telemetry` where the metrics package is not installed, and prints what it says. */
export async function sayWhatIsMissing(load) {
  const error = await load().then(
    () => assert.fail("entelix-otel/telemetry: expected an error without the metrics package"),
    (reason) => reason,
  );
  assert.match(error.code, /MODULE_NOT_FOUND$/);
  assert.match(error.message, /@opentelemetry\/sdk-metrics/);
  const [first] = error.message.split("\n");
  console.log(first.replace(/ imported from .*/, ""));
}
