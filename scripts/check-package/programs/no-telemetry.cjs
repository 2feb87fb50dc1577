void import("./missing-metrics.mjs").then(({ sayWhatIsMissing }) =>
  sayWhatIsMissing(async () => require("entelix-otel/telemetry")),
);
