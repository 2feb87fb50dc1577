import type { DecodedLine, DecodeIssue, Dialect, RecordedEvent } from "../../replay/door.ts";
import {
  type DecodedLogLine,
  decodeLogLine,
  type LineToDecode,
} from "../processor/decode-log-line.ts";
import type { CheckedLine } from "./event-gate.ts";
import type { LineOutcome } from "./line-outcomes.ts";
import type { Sender } from "./tokens/access.ts";

/** A line that may go into the journal. */
export interface GoodLine extends CheckedLine {
  readonly unknownType: string | undefined;
  /** Name of its dialect. */
  readonly dialect: string;
}

export type LineVerdict =
  | { readonly good: GoodLine; readonly outcome?: undefined; readonly undecided?: undefined }
  | {
      readonly good?: undefined;
      readonly outcome: LineOutcome;
      /** It may be good once a line behind it has told the dialect. */
      readonly undecided?: boolean | undefined;
    };

/** Checks the lines of one body, before they are accepted. */
export class LineChecker {
  readonly #dialects: readonly Dialect<RecordedEvent>[];
  readonly #sender: Pick<Sender, "tenant" | "trusted">;
  readonly #named: string | undefined;
  readonly #tenant: string;
  #before: string | undefined;

  /**
   * @param named the dialect of all lines; `undefined`: told by each line, or the one before.
   * @param tenant of the events that name none, where the sender is bound to none.
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

  check(text: string): LineVerdict {
    const { tenant, trusted } = this.#sender;
    const asked: LineToDecode = { text, tenant, trusted, dialect: this.#named };
    const decoded = decodeLogLine(asked, this.#dialects, this.#before);
    if (decoded.issues !== undefined) {
      return { outcome: rejected(decoded.issues), undecided: decoded.undecided };
    }
    const { dialect } = decoded;
    this.#before = dialect;
    return {
      good: {
        // The journal has the name that was found: no line is read in another dialect later on.
        line: { text, tenant, dialect, key: undefined, trusted },
        ...identityOf(decoded, tenant ?? this.#tenant),
        unknownType: decoded.unknown,
        dialect,
      },
    };
  }
}

/** Whose event a decoded line is, and its id. */
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
  // One reason is enough to resend by; the others are told where they fit.
  const more = others.map(({ field, expected }) => `; ${field}: ${expected}`).join("");
  return { status: "rejected", field: first.field, expected: `${first.expected}${more}` };
}
