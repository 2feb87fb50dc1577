import type { DecodedLine, DecodeIssue, Dialect, RecordedEvent } from "../../replay/door.ts";
import {
  type DecodedLogLine,
  decodeLogLine,
  type LineToDecode,
} from "../processor/decode-log-line.ts";
import type { CheckedLine } from "./event-gate.ts";
import type { LineOutcome } from "./line-outcomes.ts";
import type { Sender } from "./tokens/access.ts";

/** A valid line for the journal. */
export interface GoodLine extends CheckedLine {
  /** Number of the line in its body, from 1. */
  readonly number: number;
  readonly unknownType: string | undefined;
}

export type LineVerdict =
  | { readonly good: GoodLine; readonly outcome?: undefined; readonly undecided?: undefined }
  | {
      readonly good?: undefined;
      readonly outcome: LineOutcome;
      /** It may become valid when a later line shows the dialect. */
      readonly undecided?: boolean | undefined;
    };

/** Checks the lines of one body before they are accepted. */
export class LineChecker {
  readonly #dialects: readonly Dialect<RecordedEvent>[];
  readonly #sender: Pick<Sender, "tenant" | "trusted">;
  readonly #named: string | undefined;
  readonly #tenant: string;
  #before: string | undefined;

  /**
   * @param named dialect of all lines. `undefined`: each line, or the line before it, shows the dialect.
   * @param tenant tenant of events that name none, if the sender is not bound to one.
   */
  constructor(
    dialects: readonly Dialect<RecordedEvent>[],
    sender: Pick<Sender, "tenant" | "trusted">,
    named: string | undefined,
    tenant: string,
  ) {
    this.#dialects = dialects;
    this.#sender = sender;
    this.#named = named;
    this.#tenant = tenant;
  }

  /** @param number of the line in its body, from 1. */
  check(text: string, number: number): LineVerdict {
    const { tenant, trusted } = this.#sender;
    const asked: LineToDecode = { text, tenant, trusted, dialect: this.#named };
    const decoded = decodeLogLine(asked, this.#dialects, this.#before);
    if (decoded.issues !== undefined) {
      return { outcome: rejected(decoded.issues), undecided: decoded.undecided };
    }
    const { dialect } = decoded;
    this.#before = dialect;
    const { eventId, tenant: owner } = identityOf(decoded, tenant ?? this.#tenant);
    // The journal stores the detected dialect, so the line is never read in another one.
    const line = { text, tenant, dialect, key: undefined, trusted, decoded };
    return { good: { line, tenant: owner, eventId, number, unknownType: decoded.unknown } };
  }
}

/** Tenant and event ID of a decoded line. */
export function identityOf(
  { event }: DecodedLogLine,
  fallback: string,
): Pick<CheckedLine, "tenant" | "eventId"> {
  return {
    tenant: event === undefined ? fallback : tenantOf(event, fallback),
    eventId: event?.eventId,
  };
}

function tenantOf({ event, envelope }: DecodedLine<RecordedEvent>, fallback: string): string {
  if ("tenant_id" in event && typeof event.tenant_id === "string") return event.tenant_id;
  return envelope.tenant_id ?? fallback;
}

function rejected(issues: readonly DecodeIssue[]): LineOutcome {
  const [first, ...others] = issues;
  if (first === undefined) return { status: "rejected", field: "line", expected: "an event" };
  // One reason is enough to fix the line. The others follow in the same text.
  const more = others.map(({ field, expected }) => `; ${field}: ${expected}`).join("");
  return { status: "rejected", field: first.field, expected: `${first.expected}${more}` };
}
