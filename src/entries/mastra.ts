// `entelix-otel/mastra`: for Mastra.

export type { DecidedBy, ToolDecision } from "../adapters/decided-by.ts";
export { MastraTelemetry } from "../adapters/mastra/mastra-telemetry.ts";
export type {
  MastraCounts,
  MastraRun,
  MastraTelemetryOptions,
} from "../adapters/mastra/options.ts";
export type { Price, PricedCall } from "../runtime/price.ts";
