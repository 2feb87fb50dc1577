/** What listens somewhere in a stack. */
export const PORTS = [
  "otlpGrpc",
  "otlpHttp",
  "replayHttp",
  "collectorHealth",
  "collectorSelf",
  "collectorMetrics",
  "jaegerOtlp",
  "jaegerHealth",
  "jaegerQuery",
  "jaegerGrpc",
  "prometheus",
  "alertmanager",
] as const;

export type PortName = (typeof PORTS)[number];

/** What a server of a stack is given. */
export interface PlacedServer {
  readonly program: string;
  /** Scratch of this stack. */
  readonly folder: string;
  readonly ports: (name: PortName) => number;
  /** The absolute path of a shipped file. */
  readonly shipped: (path: string) => string;
}
