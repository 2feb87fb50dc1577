// An agent with an audit log in the folder `audit`. Prints what a check of the log finds.
import { NdjsonSessionLog, verifyLog } from "entelix-otel/audit";
import { runAgent } from "entelix-otel/runtime";
import { setupTelemetry } from "entelix-otel/telemetry";

const telemetry = setupTelemetry({ serviceName: "shop" });
const audit = await NdjsonSessionLog.open("audit");
const sink = telemetry.createBridge({ audit });
try {
  await runAgent({ sink, agent: "support", tenant: "acme" }, (run) =>
    run.tool("look_up", { input: { id: 17 } }, () => ({ state: "sent" })),
  );
} finally {
  await telemetry.shutdown();
  await audit.close();
}
const { end, ok, rows } = await verifyLog("audit");
console.log(JSON.stringify({ end, ok, rows }));
