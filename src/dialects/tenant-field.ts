import type { DecodeIssue, JsonObject } from "./dialect.ts";

/**
 * The `tenant_id` of a line whose events do not name their tenant. `null` is as good as absent; what
 * else is no text is noted as wrong.
 */
export function readTenantId(line: JsonObject, issues: DecodeIssue[]): string | undefined {
  const { tenant_id } = line;
  if (tenant_id === undefined || tenant_id === null) return undefined;
  if (typeof tenant_id === "string" && tenant_id !== "") return tenant_id;
  issues.push({ field: "tenant_id", expected: "non-empty text, or null" });
  return undefined;
}
