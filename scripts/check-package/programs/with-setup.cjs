const { setupTracing } = require("entelix-otel/setup");

void import("./send-run.mjs").then(async ({ sendRun }) => {
  const tracing = setupTracing({ endpoint: process.env.RECEIVER });
  console.log(await sendRun(tracing.createBridge()));
  await tracing.shutdown();
});
