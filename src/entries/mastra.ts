// `entelix-otel/mastra`: for Mastra.

export {
  type AdapterCounts,
  type AdapterOptions,
  type DecidedBy,
  type MastraCounts,
  type MastraRun,
  MastraTelemetry,
  type MastraTelemetryOptions,
  type PausedRun,
  type PausedRuns,
  type Price,
  type PricedCall,
  type ToolDecision,
} from "../agents/door.ts";
