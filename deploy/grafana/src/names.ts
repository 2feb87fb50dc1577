/** The uids of the provisioned data sources; panels name them, so they are fixed. */
export const PROMETHEUS = { type: "prometheus", uid: "prometheus" } as const;

/** Each dashboard's uid, which is also the name of its JSON file and the end of its address in Grafana. */
export const DASHBOARD = {
  overview: "entelix-overview",
  agent: "entelix-agent",
  tool: "entelix-tool",
  failures: "entelix-failures",
  models: "entelix-models",
  cost: "entelix-cost",
  objectives: "entelix-objectives",
  health: "entelix-health",
} as const;

/** On every dashboard of this package; the links between them are made by it. */
export const TAG = "entelix";

/** Where Jaeger's UI is for the people who look at the dashboards, unless another is given on generation. */
export const DEFAULT_JAEGER_URL = "http://127.0.0.1:16686";
