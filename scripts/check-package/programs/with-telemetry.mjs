import { setupTelemetry } from "entelix-otel/telemetry";
import { sendRun } from "./send-run.mjs";

const telemetry = setupTelemetry({ endpoint: process.env.RECEIVER });
console.log(await sendRun(telemetry.createBridge()));
await telemetry.shutdown();
