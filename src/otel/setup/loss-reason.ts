/**
 * Why a span that ended did not arrive.
 *
 * - `queue_full`: it ended while as many spans waited as the queue takes
 * - `after_shutdown`: it ended when the provider was already being shut down
 * - `too_many_exports`: the exporter had too many requests under way
 * - `timeout`: the endpoint did not answer in time
 * - `unreachable`: there was no connection to the endpoint
 * - `rejected`: the endpoint answered with an error status
 * - `export_failed`: anything else that the exporter reported
 */
export type LossReason = (typeof LOSS_REASONS)[number];

/** Every {@link LossReason}. */
export const LOSS_REASONS = [
  "queue_full",
  "after_shutdown",
  "too_many_exports",
  "timeout",
  "unreachable",
  "rejected",
  "export_failed",
] as const;

/** Error codes of Node for a connection that could not be made or did not last. */
const NO_CONNECTION =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)$/;

/** Why an export failed, by the exporter's error. */
export function reasonOfFailure(error: Error | undefined): LossReason {
  if (error === undefined) return "export_failed";
  const code = "code" in error ? error.code : undefined;
  if (typeof code === "number") return "rejected";
  if (typeof code === "string" && NO_CONNECTION.test(code)) return "unreachable";
  // The exporter's errors differ in their texts alone.
  if (code === "ETIMEDOUT" || /timed out/i.test(error.message)) return "timeout";
  if (/concurrent export limit/i.test(error.message)) return "too_many_exports";
  if (/retryable status/i.test(error.message)) return "rejected";
  return "export_failed";
}

/** The error in a few words for the operator; never the body of a response. */
export function shortText(error: Error): string {
  const code = "code" in error ? error.code : undefined;
  const known = typeof code === "number" || typeof code === "string" ? String(code) : "";
  const text = textOf(error);
  return known === "" || text.includes(known) ? text : `${known} ${text}`;
}

/** Where a name has several addresses, Node has the words in the errors of each, and none of its own. */
function textOf(error: Error): string {
  if (error.message !== "") return error.message;
  const each: unknown[] = error instanceof AggregateError ? error.errors : [];
  const texts = each.flatMap((one) => (one instanceof Error ? one.message : []));
  return texts.join(", ") || error.name;
}
