const PREFIX = "trace_";
const HEX_32 = /^[0-9a-f]{32}$/;

/**
 * The run id of a trace's own run. The SDK's `trace_` and 32 hex digits become the UUID with these
 * digits, so that OpenTelemetry's trace id is the SDK's: one search finds both. Another id stays.
 */
export function runIdOfTrace(traceId: string): string {
  if (!traceId.startsWith(PREFIX)) return traceId;
  const hex = traceId.slice(PREFIX.length);
  if (!HEX_32.test(hex)) return traceId;
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return `${parts.join("-")}-${hex.slice(20)}`;
}
