// `entelix-otel/mastra`: for Mastra.

export type { DecidedBy, ToolDecision } from "../agents/core/decided-by.ts";
export { MastraTelemetry } from "../agents/mastra/mastra-telemetry.ts";
export type {
  MastraCounts,
  MastraRun,
  MastraTelemetryOptions,
} from "../agents/mastra/options.ts";
export type { Price, PricedCall } from "../agents/runtime/price.ts";
