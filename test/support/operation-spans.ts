const at = [0, 0] as const;

const span = (attributes: Readonly<Record<string, string>>) => ({
  traceId: "t",
  spanId: "s",
  parentSpanId: undefined,
  message: undefined,
  name: "span",
  start: at,
  end: at,
  failed: false,
  events: [],
  links: [],
  attributes: { "entelix.run_id": "r", ...attributes },
});

/** A run whose operation is not `invoke_agent`. */
export const workflowSpan = span({
  "gen_ai.operation.name": "invoke_workflow",
  "entelix.run.outcome": "complete",
});

/** A model call whose operation is not `chat`. */
export const embeddingsSpan = span({
  "gen_ai.operation.name": "embeddings",
  "entelix.model.outcome": "complete",
});
