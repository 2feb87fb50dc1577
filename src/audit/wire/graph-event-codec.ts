import { checkArgument, isObject, writeAsItStands } from "../../events/door.ts";
import type {
  AnyGraphEvent,
  GraphEvent,
  KnownGraphEvent,
  UnknownGraphEvent,
} from "./graph-event.ts";
import { graphEventForm, knownEventForm, ownEventForm } from "./graph-event-form.ts";
import type { OwnGraphEvent } from "./own-event.ts";

/** An invalid field of an entry. */
export interface GraphEventIssue {
  /** Path such as `content[0].source.url`. Empty if the entry itself is invalid. */
  readonly field: string;
  readonly expected: string;
}

/** An entry, or the issues of an invalid one. */
export type DecodedGraphEvent =
  | { readonly event: KnownGraphEvent; readonly known: true; readonly issues?: undefined }
  | { readonly event: UnknownGraphEvent; readonly known: false; readonly issues?: undefined }
  | { readonly event?: undefined; readonly issues: readonly GraphEventIssue[] };

/**
 * Checks a parsed line against entelix's `GraphEvent` and this package's own kinds, and returns the same object with
 * its type.
 *
 * Unknown fields stay unchanged, and so does an entry of an unknown kind (`known: false`). Parse with `parseExact` to
 * keep integers beyond 2^53. It does not throw. At most 20 issues are listed.
 *
 * @example
 * const decoded = decodeGraphEvent(parseExact(line));
 * if (decoded.issues) throw new Error(`${decoded.issues[0]?.field}: …`);
 */
export function decodeGraphEvent(value: unknown): DecodedGraphEvent {
  if (!isObject(value)) return { issues: [{ field: "", expected: "a JSON object" }] };
  if (!hasKind(value)) return { issues: [{ field: "kind", expected: "the name of the event" }] };
  if (!knownEventForm.variants.has(value.kind)) return { event: value, known: false };
  if (knownEventForm.fits(value)) return { event: value, known: true };
  const issues: GraphEventIssue[] = [];
  knownEventForm.explain(value, "", issues);
  return { issues };
}

/** Whether the value is a valid entry of one of entelix's 19 kinds. */
export function isGraphEvent(value: unknown): value is GraphEvent {
  return graphEventForm.fits(value);
}

/** Whether the value is a valid entry of one of this package's own kinds. */
export function isOwnGraphEvent(value: unknown): value is OwnGraphEvent {
  return ownEventForm.fits(value);
}

function hasKind(value: Readonly<Record<string, unknown>>): value is UnknownGraphEvent {
  return typeof value.kind === "string";
}

/**
 * Writes an entry as entelix's serde does: the fields in the order of their declaration, and an absent field as
 * `null` or left out as entelix does. Entries of this package's own kinds have a fixed order as well. The result is
 * one line without a newline.
 *
 * Unknown data is never dropped: an object with an unknown field keeps its own order, and an entry of an unknown kind
 * is written unchanged. A value that JSON cannot express becomes a text that says so. The event itself always stays
 * an object with its kind.
 *
 * @throws RangeError if one of its values has more than 32 MiB of JSON; the error of a getter of the event.
 *
 * @example
 * encodeGraphEvent({ kind: "cancelled", reason: "deadline", timestamp: "2026-04-29T12:00:00Z" });
 */
export function encodeGraphEvent(event: AnyGraphEvent): string {
  checkArgument(event, "event");
  const text = knownEventForm.write(event);
  if (text.startsWith('{"kind":')) return text;
  if (text.startsWith("{") && Object.hasOwn(event, "kind")) return text;
  // For example a cycle in an unknown kind. Written as one text it could never be read as an event.
  return writeAsItStands({ ...event, kind: event.kind });
}
