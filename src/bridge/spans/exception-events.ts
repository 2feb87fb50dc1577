import {
  type ContentField,
  EXCEPTION_EVENT,
  type Instant,
  type KnownAttributes,
  property,
} from "../../events/door.ts";
import { type ContentPolicy, cutBytes } from "./content.ts";
import type { SpanHandle } from "./span-handle.ts";

/** Limit of a class name in bytes of UTF-8. */
const MOST_TYPE = 256;

/** Adds the `exception` event to failed spans: operator text, redacted and cut. */
export class ExceptionEvents {
  readonly #content: ContentPolicy;
  readonly #isOn: boolean;

  constructor(content: ContentPolicy, isOn: boolean) {
    this.#content = content;
    this.#isOn = isOn;
  }

  /**
   * @param at end of the span.
   * @param exception from the event's details. Senders in plain JavaScript can pass any type.
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
