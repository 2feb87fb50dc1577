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

/** What decoding needs of a line: a front door asks before the line has an offset. */
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

/** What a line is: one of the four is there. `dialect` is the name of the one it was read in. */
export type DecodedLogLine =
  | One<{ readonly event: DecodedLine<RecordedEvent>; readonly dialect: string }>
  /** Its type, which this version does not know, and the sign of life that it is of its run. */
  | One<{
      readonly unknown: string;
      readonly activity: ActivityLine<RecordedEvent> | undefined;
      readonly dialect: string;
    }>
  /** A line of the file's own form, a header say: nothing is wrong, and nothing is to be done. */
  | One<{ readonly skipped: true; readonly dialect: string }>
  /** What is wrong with it; at least one. `undecided`: only its dialect is unknown. */
  | One<{ readonly issues: readonly DecodeIssue[]; readonly undecided?: boolean }>;

/**
 * Reads one line of a log: finds its dialect, checks it, binds it to the tenant of its sender, and
 * drops what a sender that is not trusted says of its place in other traces. A line with an id or name
 * of more than 4,096 characters is rejected.
 *
 * The event's `line` is the offset, so that lines without sequences keep the order of the log.
 *
 * @param before name of the dialect of the line before from the same sender: for a line that does not
 *   tell its own.
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
  const told = line.tenant === undefined || dialect !== entelixDialect;
  const decoded = dialect.decode(told ? value : withTenant(value, line.tenant));
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
  const { traceparent, tracestate, ...plain } = decoded.envelope;
  const named = traceparent !== undefined || tracestate !== undefined;
  let envelope = named && !line.trusted ? plain : decoded.envelope;
  if (tenant !== undefined && envelope.tenant_id === undefined) {
    envelope = { ...envelope, tenant_id: tenant };
  }
  const whole = envelope === decoded.envelope ? decoded : { ...decoded, envelope };
  return { event: new DecodedLine(whole, dialect, line.offset ?? 0, line.text), dialect: name };
}

function dialectOf(
  named: string | undefined,
  value: JsonObject,
  dialects: readonly Dialect<RecordedEvent>[],
  before: string | undefined,
): Dialect<RecordedEvent> | undefined {
  if (named !== undefined) return dialects.find(({ name }) => name === named);
  const told = dialects.find((dialect) => dialect.looksLike(value));
  if (told !== undefined || before === undefined) return told;
  return dialects.find(({ name }) => name === before);
}

/**
 * A line without a sign of its dialect, where no other line has one either: an event of a future type says
 * with its tenant and run whose it is, as an entelix line does. Of anything else nothing is known.
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

/** An entelix event can't be without a tenant: where it names none it gets that of its sender. */
function withTenant(value: JsonObject, tenant: string | undefined): JsonObject {
  const nested = value.type === undefined && isJsonObject(value.event) ? value.event : undefined;
  const { tenant_id = null } = nested ?? value;
  if (tenant_id !== null || tenant === undefined) return value;
  return nested === undefined
    ? { ...value, tenant_id: tenant }
    : { ...value, event: { ...nested, tenant_id: tenant } };
}

/**
 * An event of a type that the dialect does not know: kept for a later version, unless it is of another
 * dialect, or another tenant's.
 */
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
    const sign = dialect.activityOf?.(value, tenant);
    const activity = sign && new ActivityLine(value, sign, dialect, offset, text);
    return { unknown, activity, dialect: dialect.name };
  }
  const expected = `an event of ${dialect.name}, not of ${other.name}`;
  return { issues: [{ field: "type", expected }] };
}

function notYours(tenant: string): DecodeIssue {
  return { field: "tenant_id", expected: `${JSON.stringify(tenant)}, the tenant of the token` };
}

/** Whether an event names a tenant that is not this one. */
function isOfAnother(tenant: string | undefined, event: object): boolean {
  return "tenant_id" in event && isAnother(tenant, event.tenant_id);
}

function isAnother(tenant: string | undefined, named: unknown): boolean {
  return tenant !== undefined && named !== undefined && named !== null && named !== tenant;
}
