/**
 * One text for a tenant and a name of that tenant's own, such as a run ID. No two pairs share a text,
 * whatever characters they hold: a separator alone could stand in either.
 */
export function tenantKey(tenantId: string, name: string): string {
  // A program without types may name no tenant.
  const tenant = String(tenantId);
  return `${tenant.length}:${tenant}${name}`;
}
