/**
 * Whether an error of the client, or one of those it consists of, is the protocol's error of this name:
 * `OFFSET_OUT_OF_RANGE`.
 */
export function isProtocolError(error: unknown, name: string): boolean {
  if (!(error instanceof Error)) return false;
  if ("apiId" in error && error.apiId === name) return true;
  if (isProtocolError(error.cause, name)) return true;
  if (!("errors" in error) || !Array.isArray(error.errors)) return false;
  return error.errors.some((one) => isProtocolError(one, name));
}

const REFUSALS = [
  "UNKNOWN_TOPIC_OR_PARTITION",
  "UNKNOWN_TOPIC_ID",
  "TOPIC_AUTHORIZATION_FAILED",
  "INVALID_TOPIC_EXCEPTION",
];

/**
 * Whether it is about a topic that is not there, or not for this client: the others may be well. In answers
 * to metadata requests the client has only words for the first.
 */
export function isTopicRefused(error: unknown): boolean {
  if (error instanceof Error && error.message.startsWith("Unknown topic ")) return true;
  return REFUSALS.some((name) => isProtocolError(error, name));
}

/** What an error of the client says: those it consists of say more than it does. */
export function kafkaMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("errors" in error && Array.isArray(error.errors) && error.errors.length > 0) {
    return [...new Set(error.errors.map(kafkaMessage))].join("; ");
  }
  if ("apiId" in error && typeof error.apiId === "string") return error.apiId;
  return error.message || error.name;
}
