import { setupTracing } from "entelix-otel/setup";
import { sendRun } from "./send-run.mjs";

const tracing = setupTracing({ endpoint: process.env.RECEIVER });
console.log(await sendRun(tracing.createBridge()));
await tracing.shutdown();
