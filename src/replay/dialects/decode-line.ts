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

/** How the lines of a dialect are read whose events are tagged by `type`. */
export interface LineReader<E> {
  readonly events: TaggedForm<E>;
  /** An event type, for errors. */
  readonly example: string;
  /** Name of an event whose `type` is known, while something inside that decides is not. */
  unknownType?(fields: JsonObject, type: string): string | undefined;
  rankOf(event: E): EventRank;
  /** What is wrong is added to `issues`; the result then does not matter. */
  readEnvelope(line: JsonObject, issues: DecodeIssue[]): LineEnvelope | undefined;
}

/**
 * Checks one line: a flat envelope `{"timestamp":…,"type":…,…fields}`, or the event nested in one as
 * `{…envelope,"event":{"type":…}}`. The event in the result is the given object itself, unless a value
 * had to be replaced. Never throws.
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

/** The event of a line: what is nested in it as `event`, where it has no `type`, else the line itself. */
export function eventIn(line: JsonObject): JsonObject {
  return line.type === undefined && isJsonObject(line.event) ? line.event : line;
}

/** The envelope of a line whose events do not name their tenant, which is then a field of the line. */
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

/** The activity that a line with this envelope shows, as its sender's where it names no tenant. */
export function activityOf(
  read: LineEnvelope | undefined,
  tenant: string | undefined,
  placeOf: (envelope: LineEnvelope) => StreamKey,
): Activity | undefined {
  if (read === undefined) return undefined;
  const bound = tenant === undefined || read.tenant_id !== undefined;
  const envelope = bound ? read : { ...read, tenant_id: tenant };
  return { envelope, streamKey: placeOf(envelope) };
}

export function rejected(issues: readonly DecodeIssue[]): RejectedEvent {
  return { outcome: "rejected", issues };
}

/** A field that is the event's and the envelope's is wrong once. */
function withoutRepeats(issues: readonly DecodeIssue[]): DecodeIssue[] {
  return issues.filter(
    ({ field }, index) => issues.findIndex((issue) => issue.field === field) === index,
  );
}
