/** The rows of tool calls alone, as upstream's own projection of events makes them. */
export function toolRows<R extends { readonly event: { readonly kind: string } }>(
  rows: readonly R[],
): R[] {
  return rows.filter(({ event }) => event.kind === "tool_call" || event.kind === "tool_result");
}
