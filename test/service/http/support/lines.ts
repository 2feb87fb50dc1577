/** One event of entelix, with what is not said filled in. */
export function event(fields: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    type: "started",
    timestamp: "2026-04-29T12:00:00Z",
    run_id: "018f3c7a-0000-7000-8000-000000000002",
    tenant_id: "acme",
    agent: "react",
    ...fields,
  });
}

/** So many events with ids of their own, as NDJSON. */
export function events(
  count: number,
  prefix = "e",
  fields: Readonly<Record<string, unknown>> = {},
) {
  return Array.from(
    { length: count },
    (_, at) => `${event({ event_id: `${prefix}${at}`, ...fields })}\n`,
  ).join("");
}
