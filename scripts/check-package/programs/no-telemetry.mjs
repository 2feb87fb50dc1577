import { sayWhatIsMissing } from "./missing-metrics.mjs";

await sayWhatIsMissing(() => import("entelix-otel/telemetry"));
