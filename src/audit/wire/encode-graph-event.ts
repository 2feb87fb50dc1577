import { writeAsItStands } from "../../events/object-forms.ts";
import type { AnyGraphEvent } from "./graph-event.ts";
import { graphEventForm } from "./graph-event-form.ts";

/**
 * Writes an entry as upstream's serde does: the fields in the order of its declaration, what is not
 * there as `null` or left out as upstream does. One line of text, without its newline.
 *
 * What this version does not know is never dropped: an object with an unknown field is written in
 * its own order, and an unknown kind as it stands. A value that is no JSON at all becomes a text that
 * says so; the event itself always stays an object with its kind. It does not throw, but for a getter
 * of the event's own that does.
 *
 * @example
 * encodeGraphEvent({ kind: "cancelled", reason: "deadline", timestamp: "2026-04-29T12:00:00Z" });
 */
export function encodeGraphEvent(event: AnyGraphEvent): string {
  const text = graphEventForm.write(event);
  if (text.startsWith('{"kind":')) return text;
  if (text.startsWith("{") && Object.hasOwn(event, "kind")) return text;
  // An unknown kind with a cycle in it, say: written as one text it could never be read as an event.
  return writeAsItStands({ ...event, kind: event.kind });
}
