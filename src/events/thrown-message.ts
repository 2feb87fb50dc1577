import { listProperty, property, textProperty } from "./thrown-property.ts";
import { suppressedIn } from "./thrown-suppressed.ts";

/** Errors that one error may hold, of which the text is told. */
const MAX_ERRORS = 4;

/**
 * What a thrown value says of itself: its message, else those of the errors that it holds. Node's
 * error for a host of which no address answers has no message of its own, and that of a
 * SuppressedError is always the same.
 */
export function thrownMessage(thrown: unknown): string | undefined {
  let at = thrown;
  const closing: unknown[] = [];
  for (let left = MAX_ERRORS; left > 0; left -= 1) {
    const suppressed = suppressedIn(at);
    if (suppressed === undefined) break;
    closing.unshift(property(at, "error"));
    at = suppressed;
  }
  const message = textProperty(at, "message");
  if (message !== undefined && closing.length === 0) return message;
  const held = message === undefined ? listProperty(at, "errors", MAX_ERRORS) : [at];
  const texts = [...held, ...closing]
    .map((error) => textProperty(error, "message"))
    .filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : texts.join("; ");
}
