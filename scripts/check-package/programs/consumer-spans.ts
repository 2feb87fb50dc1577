// Spans alone, as a TypeScript user writes it who has none of the metrics packages.
import type { Bridge } from "entelix-otel";
import { setupTracing, type Tracing } from "entelix-otel/setup";

const tracing: Tracing = setupTracing({ serviceName: "agent" });

export const bridge: Bridge = tracing.createBridge();
