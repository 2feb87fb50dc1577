// An agent's process: reads events from standard input, one flat envelope a line, and sends each to a bridge of the
// built package as it comes. Ends when the input ends, with a shutdown, and prints what became of the spans.
//
// Its argument is JSON: { setup: "setupTracing" | "setupTelemetry", options, bridge }.
import { createInterface } from "node:readline";
import { parseExact } from "entelix-otel/events";
import { entelixDialect } from "entelix-otel/replay";

const { setup, options, bridge: bridgeOptions } = JSON.parse(process.argv[2]);
const errors = [];
const onError = (error, place) => errors.push(`${place}: ${error.message}`);
const telemetry = await wire({ ...options, onError });
const bridge = telemetry.createBridge(bridgeOptions);
let events = 0;

for await (const line of createInterface({ input: process.stdin })) {
  if (line === "flush") {
    await telemetry.forceFlush().catch((error) => onError(error, "flush"));
    console.log(JSON.stringify({ flushed: events }));
    continue;
  }
  const decoded = entelixDialect.decode(parseExact(line));
  if (decoded.outcome !== "event") throw new Error(`no event: ${line}`);
  events++;
  await bridge.send(decoded.event, decoded.envelope);
}
await telemetry.shutdown();
console.log(JSON.stringify({ events, errors, spans: telemetry.diagnostics() }));

/** Only what is asked for is loaded: `entelix-otel/telemetry` needs the metrics packages. */
async function wire(all) {
  if (setup === "setupTelemetry") {
    const { setupTelemetry } = await import("entelix-otel/telemetry");
    return setupTelemetry(all);
  }
  const { setupTracing } = await import("entelix-otel/setup");
  return setupTracing(all);
}
