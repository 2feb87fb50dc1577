const { setupTelemetry } = require("entelix-otel/telemetry");

void import("./send-run.mjs").then(async ({ sendRun }) => {
  const telemetry = setupTelemetry({ endpoint: process.env.RECEIVER });
  console.log(await sendRun(telemetry.createBridge()));
  await telemetry.shutdown();
});
