import type { LineEnvelope, SignOfLife, StreamPlace } from "./dialect.ts";

/** The sign of life that a line with this envelope is, as its sender's where it names no tenant. */
export function signOfLife(
  read: LineEnvelope | undefined,
  tenant: string | undefined,
  placeOf: (envelope: LineEnvelope) => StreamPlace,
): SignOfLife | undefined {
  if (read === undefined) return undefined;
  const bound = tenant === undefined || read.tenant_id !== undefined;
  const envelope = bound ? read : { ...read, tenant_id: tenant };
  return { envelope, place: placeOf(envelope) };
}
