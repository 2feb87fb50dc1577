import {
  ActivityLine,
  DecodedLine,
  type DecodeIssue,
  type Dialect,
  entelixDialect,
  isJsonObject,
  type JsonObject,
  parseLine,
  type RecordedEvent,
  type UnknownEvent,
} from "../../replay/door.ts";
import type { LogLine } from "../journal/log-line.ts";

/** The fields of a line that decoding uses. A line may have no offset yet. */
export type LineToDecode = Pick<LogLine, "text" | "tenant" | "dialect" | "trusted"> & {
  readonly offset?: number;
};

interface NoLine {
  readonly event?: undefined;
  readonly unknown?: undefined;
  readonly activity?: undefined;
  readonly skipped?: undefined;
  readonly issues?: undefined;
}

type One<F> = Omit<NoLine, keyof F> & F;

/** The result of decoding a line. `dialect` is the name of its dialect. */
export type DecodedLogLine =
  | One<{ readonly event: DecodedLine<RecordedEvent>; readonly dialect: string }>
  /** An unknown type, and the activity of its run. */
  | One<{
      readonly unknown: string;
      readonly activity: ActivityLine<RecordedEvent> | undefined;
      readonly dialect: string;
    }>
  /** A valid line without an event, such as a header. */
  | One<{ readonly skipped: true; readonly dialect: string }>
  /** At least one issue. `undecided`: only the dialect is unknown. */
  | One<{ readonly issues: readonly DecodeIssue[]; readonly undecided?: boolean }>;

/**
 * Reads one line of a log: finds its dialect, checks it, and binds it to the tenant of its sender. Trace context from
 * untrusted senders is dropped. A line with an ID or name of more than 4,096 characters is rejected.
 *
 * The event's `line` is the offset, so lines without sequences keep the order of the log.
 *
 * @param before dialect of the sender's previous line, for lines that do not show their own.
 *
 * @example
 * const decoded = decodeLogLine({ text, tenant: "acme", dialect: undefined, trusted: false }, dialects);
 * if (decoded.issues !== undefined) reject(decoded.issues);
 */
export function decodeLogLine(
  line: LineToDecode,
  dialects: readonly Dialect<RecordedEvent>[],
  before?: string,
): DecodedLogLine {
  const { value, issues } = parseLine(line.text);
  if (issues !== undefined) return { issues };
  const dialect = dialectOf(line.dialect, value, dialects, before);
  if (dialect === undefined) {
    const issues = [unknownDialect(line.dialect, dialects)];
    return { issues, undecided: line.dialect === undefined };
  }
  const { name } = dialect;
  const keepsTenant = line.tenant === undefined || dialect !== entelixDialect;
  const decoded = dialect.decode(keepsTenant ? value : withTenant(value, line.tenant));
  switch (decoded.outcome) {
    case "unknown":
      return unknownLine(decoded, dialect, line, dialects);
    case "skipped":
      return { skipped: true, dialect: name };
    case "rejected":
      return { issues: decoded.issues };
    case "event":
      break;
    default:
      return decoded satisfies never;
  }
  const { tenant } = line;
  const { tenant_id } = decoded.envelope;
  if (
    tenant !== undefined &&
    (isAnother(tenant, tenant_id) || isOfAnother(tenant, decoded.event))
  ) {
    return { issues: [notYours(tenant)] };
  }
  let { envelope } = decoded;
  if (!line.trusted && (envelope.traceparent !== undefined || envelope.tracestate !== undefined)) {
    const { traceparent, tracestate, ...plain } = envelope;
    envelope = plain;
  }
  if (tenant !== undefined && envelope.tenant_id === undefined) {
    envelope = { ...envelope, tenant_id: tenant };
  }
  const whole = envelope === decoded.envelope ? decoded : { ...decoded, envelope };
  return { event: new DecodedLine(whole, dialect, line.offset ?? 0, line.text), dialect: name };
}

/** Gives a line its place in the log. The lines of a request are decoded before they have one. */
export function placed(decoded: DecodedLogLine, offset: number): DecodedLogLine {
  const line = decoded.event ?? decoded.activity;
  if (line !== undefined) Object.assign(line, { line: offset });
  return decoded;
}

function dialectOf(
  named: string | undefined,
  value: JsonObject,
  dialects: readonly Dialect<RecordedEvent>[],
  before: string | undefined,
): Dialect<RecordedEvent> | undefined {
  if (named !== undefined) return dialects.find(({ name }) => name === named);
  const shown = dialects.find((dialect) => dialect.looksLike(value));
  if (shown !== undefined || before === undefined) return shown;
  return dialects.find(({ name }) => name === before);
}

/**
 * Decodes a line whose dialect neither it nor an earlier line shows, as an entelix line of a future type with tenant
 * and run. `undefined` if that does not fit.
 */
export function decodeAlone(
  line: LineToDecode,
  dialects: readonly Dialect<RecordedEvent>[],
): DecodedLogLine | undefined {
  const decoded = decodeLogLine({ ...line, dialect: entelixDialect.name }, dialects);
  return decoded.activity === undefined ? undefined : decoded;
}

function unknownDialect(
  named: string | undefined,
  dialects: readonly Dialect<RecordedEvent>[],
): DecodeIssue {
  const names = dialects.map(({ name }) => name).join(" or ");
  return named === undefined
    ? { field: "type", expected: `an event of ${names}` }
    : { field: "dialect", expected: names };
}

/** An entelix event needs a tenant. Without one it gets the tenant of its sender. */
function withTenant(value: JsonObject, tenant: string | undefined): JsonObject {
  const nested = value.type === undefined && isJsonObject(value.event) ? value.event : undefined;
  const { tenant_id = null } = nested ?? value;
  if (tenant_id !== null || tenant === undefined) return value;
  return nested === undefined
    ? { ...value, tenant_id: tenant }
    : { ...value, event: { ...nested, tenant_id: tenant } };
}

/** Accepts an event of an unknown type for a later version, unless it belongs to another dialect or tenant. */
function unknownLine(
  { unknown, value }: UnknownEvent,
  dialect: Dialect<RecordedEvent>,
  { offset = 0, tenant, text }: LineToDecode,
  dialects: readonly Dialect<RecordedEvent>[],
): DecodedLogLine {
  const { event } = value;
  const nested = isJsonObject(event) && isOfAnother(tenant, event);
  if (tenant !== undefined && (nested || isOfAnother(tenant, value))) {
    return { issues: [notYours(tenant)] };
  }
  const other = dialects.find((each) => each !== dialect && each.looksLike(value));
  if (other === undefined) {
    const shown = dialect.activityOf?.(value, tenant);
    const activity = shown && new ActivityLine(value, shown, dialect, offset, text);
    return { unknown, activity, dialect: dialect.name };
  }
  const expected = `an event of ${dialect.name}, not of ${other.name}`;
  return { issues: [{ field: "type", expected }] };
}

function notYours(tenant: string): DecodeIssue {
  return { field: "tenant_id", expected: `${JSON.stringify(tenant)}, the tenant of the token` };
}

/** Whether an event names another tenant. */
function isOfAnother(tenant: string | undefined, event: object): boolean {
  return "tenant_id" in event && isAnother(tenant, event.tenant_id);
}

function isAnother(tenant: string | undefined, named: unknown): boolean {
  return tenant !== undefined && named !== undefined && named !== null && named !== tenant;
}
