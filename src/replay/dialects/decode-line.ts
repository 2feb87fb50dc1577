import type { TaggedForm } from "../../events/door.ts";
import {
  type Activity,
  type Decoded,
  type DecodeIssue,
  type EventRank,
  isJsonObject,
  type JsonObject,
  type LineEnvelope,
  type RejectedEvent,
  type StreamKey,
} from "./dialect.ts";
import { readLineEnvelope, readTenantId } from "./line-envelope.ts";

/** How to read the lines of a dialect whose events are tagged by `type`. */
export interface LineReader<E> {
  readonly events: TaggedForm<E>;
  /** An event type, for error texts. */
  readonly example: string;
  /** Name of an event with a known `type` if an inner tag that decides its form is unknown. */
  unknownType?(fields: JsonObject, type: string): string | undefined;
  rankOf(event: E): EventRank;
  /** Adds problems to `issues`. The result is ignored if there are any. */
  readEnvelope(line: JsonObject, issues: DecodeIssue[]): LineEnvelope | undefined;
}

/**
 * Checks one line: a flat envelope `{"timestamp":…,"type":…,…fields}`, or an event nested in one:
 * `{…envelope,"event":{"type":…}}`. The event in the result is the given object, unless a value had to be replaced.
 * Never throws.
 */
export function decodeLine<E>(line: JsonObject, reader: LineReader<E>): Decoded<E> {
  const { events, example } = reader;
  const fields = eventIn(line);
  const { type } = fields;
  if (typeof type !== "string") {
    return rejected([{ field: "type", expected: `an event type such as "${example}"` }]);
  }
  const form = events.variants.get(type);
  const unknown = reader.unknownType?.(fields, type) ?? type;
  if (form === undefined || unknown !== type) return { outcome: "unknown", unknown, value: line };
  const issues: DecodeIssue[] = [];
  const unknownValues: string[] = [];
  const event = form.adapt === undefined ? fields : form.adapt(fields, unknownValues);
  const fits = form.fits(event);
  if (!fits) form.explain(event, fields === line ? "" : "event", issues);
  const envelope = reader.readEnvelope(line, issues);
  if (!fits || envelope === undefined || issues.length > 0) return rejected(withoutRepeats(issues));
  return { outcome: "event", event, envelope, rank: reader.rankOf(event), unknownValues };
}

/** The event of a line: its field `event` if the line has no `type`, otherwise the line itself. */
export function eventIn(line: JsonObject): JsonObject {
  return line.type === undefined && isJsonObject(line.event) ? line.event : line;
}

/** The envelope of a line whose tenant is a field of the line, not of the event. */
export function readTenantEnvelope(
  line: JsonObject,
  issues: DecodeIssue[],
): ReturnType<typeof readLineEnvelope> {
  const envelope = readLineEnvelope(line, issues);
  const tenant = readTenantId(line, issues);
  if (envelope === undefined || issues.length > 0) return undefined;
  if (tenant !== undefined) envelope.tenant_id = tenant;
  return envelope;
}

/** The activity that a line with this envelope shows. `tenant` applies if the envelope names none. */
export function activityOf(
  read: LineEnvelope | undefined,
  tenant: string | undefined,
  streamKeyOf: (envelope: LineEnvelope) => StreamKey,
): Activity | undefined {
  if (read === undefined) return undefined;
  const bound = tenant === undefined || read.tenant_id !== undefined;
  const envelope = bound ? read : { ...read, tenant_id: tenant };
  return { envelope, streamKey: streamKeyOf(envelope) };
}

export function rejected(issues: readonly DecodeIssue[]): RejectedEvent {
  return { outcome: "rejected", issues };
}

/** Event and envelope may both report the same field. */
function withoutRepeats(issues: readonly DecodeIssue[]): DecodeIssue[] {
  return issues.filter(
    ({ field }, index) => issues.findIndex((issue) => issue.field === field) === index,
  );
}
