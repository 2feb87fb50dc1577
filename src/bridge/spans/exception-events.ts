import {
  type ContentField,
  EXCEPTION_EVENT,
  type Instant,
  type KnownAttributes,
  property,
} from "../../events/door.ts";
import { type ContentPolicy, cutBytes } from "./content.ts";
import type { SpanHandle } from "./span-handle.ts";

/** Most bytes (UTF-8) of the name of a class. */
const MOST_TYPE = 256;

/** Adds the `exception` event to spans of what failed: operator text, redacted and cut. */
export class ExceptionEvents {
  readonly #content: ContentPolicy;
  readonly #isOn: boolean;

  constructor(content: ContentPolicy, isOn: boolean) {
    this.#content = content;
    this.#isOn = isOn;
  }

  /**
   * @param at when the span ends.
   * @param exception as the event's details have it. Senders in plain JavaScript are not held to the types.
   */
  add(
    handle: SpanHandle,
    at: Instant,
    exception: unknown,
    of: Omit<ContentField, "attribute">,
  ): void {
    if (!this.#isOn || exception === undefined) return;
    const type = property(exception, "type");
    if (typeof type !== "string" || type === "") return;
    const attributes: KnownAttributes = { "exception.type": cutBytes(type, MOST_TYPE) };
    const message = property(exception, "message");
    if (typeof message === "string") {
      const attribute = "exception.message";
      attributes[attribute] = this.#content.errorText(message, { ...of, attribute });
    }
    const stack = property(exception, "stacktrace");
    if (typeof stack === "string") {
      const attribute = "exception.stacktrace";
      attributes[attribute] = this.#content.stackText(stack, { ...of, attribute });
    }
    handle.span.addEvent(EXCEPTION_EVENT, attributes, at);
  }
}
