// `entelix-otel/mastra`: for Mastra.

export {
  type DecidedBy,
  type MastraCounts,
  type MastraRun,
  MastraTelemetry,
  type MastraTelemetryOptions,
  type Price,
  type PricedCall,
  type ToolDecision,
} from "../agents/door.ts";
