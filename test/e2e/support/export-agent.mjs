// A process under setupTelemetry of the built package that makes numbered spans of one size at a steady rate.
// Argument: JSON { options, rate, padding }: options of the setup, spans a second, characters beside a span's number.
// Says on standard output, a line of JSON each: how many it has made, what it is told of, and at its end all counts.
// Takes on standard input: `make N` (at once), `flush`, `stop`; its end, where it shuts down.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setupTelemetry } from "entelix-otel/telemetry";

const { options, padding, rate } = JSON.parse(process.argv[2]);
// At once, since a signal leaves no time for more.
const say = (message) => writeSync(1, `${JSON.stringify(message)}\n`);

const telemetry = setupTelemetry({
  ...options,
  onError: (error, place) => {
    const { lost, counts, message, name } = error;
    say({ trouble: { name, place, message, lost, counts } });
  },
});
const tracer = telemetry.tracerProvider.getTracer("export-agent");
const attributes = { padding: "x".repeat(padding) };
const before = held();
const peak = { pending: 0, bytes: 0 };
let made = 0;

function held() {
  const { external, heapUsed } = process.memoryUsage();
  return heapUsed + external;
}

function make(count) {
  for (let n = 0; n < count; n++) {
    tracer.startSpan(String(made++).padStart(9, "0"), { attributes }).end();
  }
  peak.pending = Math.max(peak.pending, telemetry.diagnostics().pending);
  peak.bytes = Math.max(peak.bytes, held() - before);
  say({ made, pending: telemetry.diagnostics().pending });
}

const begin = performance.now();
const making = setInterval(() => {
  make(Math.floor(((performance.now() - begin) / 1000) * rate) - steady());
}, 10);
let atOnce = 0;
const steady = () => made - atOnce;

if (rate === 0) clearInterval(making);
say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const [command, count] = line.split(" ");
  if (command === "make") {
    atOnce += Number(count);
    make(Number(count));
  } else if (command === "flush") {
    await telemetry.forceFlush().catch(() => {});
    say({ flushed: telemetry.diagnostics() });
  } else {
    clearInterval(making);
    say({ stopped: made });
  }
}
clearInterval(making);
await telemetry.shutdown();
say({ ended: { made, peak, counts: telemetry.diagnostics() } });
