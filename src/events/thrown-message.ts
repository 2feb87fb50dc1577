import { listProperty, textProperty } from "./thrown-property.ts";

const MAX_ERRORS = 4;

/**
 * What a thrown value says of itself: its message, else those of the errors that it holds. Node's
 * error for a host of which no address answers has no message of its own.
 */
export function thrownMessage(thrown: unknown): string | undefined {
  const message = textProperty(thrown, "message");
  if (message !== undefined) return message;
  const inner = listProperty(thrown, "errors", MAX_ERRORS)
    .map((error) => textProperty(error, "message"))
    .filter((text) => text !== undefined);
  return inner.length === 0 ? undefined : inner.join("; ");
}
