import assert from "node:assert/strict";

/** Loads `entelix-otel/telemetry` where no metrics package is installed, and prints what it says. */
export async function sayWhatIsMissing(load) {
  const error = await load().then(
    () => assert.fail("entelix-otel/telemetry: expected an error without the metrics packages"),
    (reason) => reason,
  );
  assert.match(error.code, /MODULE_NOT_FOUND$/);
  assert.match(error.message, /@opentelemetry\/(sdk-metrics|exporter-metrics-otlp-http)/);
  const [first] = error.message.split("\n");
  console.log(first.replace(/ imported from .*/, ""));
}
