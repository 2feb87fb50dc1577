import { asAgentError } from "./as-agent-error.ts";
import { constructorName, thrownMessage } from "./thrown.ts";

/**
 * The operator's text of anything thrown: its message, else what it is; and how a connection failed,
 * where only a cause says it. Never throws.
 */
export function operatorText(thrown: unknown): string {
  const text = thrownMessage(thrown) ?? described(thrown);
  const connection = connectionText(thrown);
  return connection === undefined || text.includes(connection) ? text : `${text} (${connection})`;
}

/** What has no message. */
function described(thrown: unknown): string {
  switch (typeof thrown) {
    case "object":
    case "function":
      return thrown === null
        ? "null was thrown"
        : `${constructorName(thrown)} was thrown, without a message`;
    case "string":
      return thrown === "" ? "an empty text was thrown" : thrown;
    default:
      return `${String(thrown)} was thrown`;
  }
}

/**
 * How a connection failed, as the cause says it: `fetch failed` alone does not help. The texts of other
 * causes are left out, since they may quote content.
 */
function connectionText(thrown: unknown): string | undefined {
  const known = asAgentError(thrown);
  if (known === undefined || known === thrown) return undefined;
  const { detail } = known;
  return detail.type === "provider" && detail.kind !== "http" ? detail.message : undefined;
}

/** The operator's text of a call that the run's end cut off. */
export function cutText(error: unknown): string {
  return `${operatorText(error)}: the run ended while the call was open`;
}
