import {
  isWholeNumber,
  type ModelCallUsage,
  outputMessages,
  property,
  withoutAdded,
} from "../../events/door.ts";
import type { ModelAnswer } from "../writer/door.ts";

/** Data of a model's answer. Omit fields that the provider does not report. */
export interface ModelReport {
  /** Input tokens include cached tokens. */
  readonly usage?: ModelCallUsage | null | undefined;
  /** The model that answered, if it differs from the requested one. */
  readonly responseModel?: string | null | undefined;
  /** Who answered, if not the `provider` of the call: after a fallback, or through a gateway. */
  readonly provider?: string | null | undefined;
  readonly responseId?: string | null | undefined;
  readonly finishReasons?: readonly string[] | null | undefined;
  /**
   * Content: the answer, in any form that `toMessages` reads. Default: the result of the call's function, if it is a
   * text.
   */
  readonly output?: unknown;
}

const AXES = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_write_input_tokens",
  "reasoning_output_tokens",
] as const satisfies readonly (keyof ModelCallUsage)[];

/** The names of a report's fields. */
export const REPORT_FIELDS = {
  usage: true,
  responseModel: true,
  provider: true,
  responseId: true,
  finishReasons: true,
  output: true,
} as const satisfies Record<keyof ModelReport, true>;

/** Called with the reason why a field was omitted. */
type Wrong = (error: TypeError) => void;

/**
 * The valid fields of a report. Invalid fields are omitted, because the answer must not fail. Never
 * throws.
 */
export function checkedReport(given: ModelReport, wrong: Wrong): ModelAnswer {
  const report = withoutAdded(given);
  const { output } = report;
  const usage = usageOf(report.usage, wrong);
  const responseModel = textOf(report.responseModel, "responseModel", wrong);
  const provider = textOf(report.provider, "provider", wrong);
  const responseId = textOf(report.responseId, "responseId", wrong);
  const finishReasons = textsOf(report.finishReasons, wrong);
  const said = output === undefined ? undefined : outputMessages(output, finishReasons);
  return { usage, responseModel, provider, responseId, finishReasons, output: said };
}

function usageOf(usage: unknown, wrong: Wrong): ModelCallUsage | undefined {
  if (usage === null || usage === undefined) return undefined;
  if (typeof usage !== "object") {
    wrong(new TypeError(`usage: expected an object, got ${typeof usage}`));
    return undefined;
  }
  const checked: Partial<Record<keyof ModelCallUsage, number | bigint>> = {};
  let isKnown = false;
  for (const axis of AXES) {
    // A getter of a client's class may throw.
    const value = property(usage, axis);
    if (value === null || value === undefined) continue;
    isKnown = true;
    if (isWholeNumber(value)) checked[axis] = value;
    else {
      const got = typeof value === "number" ? value : typeof value;
      wrong(new TypeError(`usage.${axis}: expected a whole number from 0, got ${got}`));
    }
  }
  if (isKnown || !hasFields(usage)) return checked;
  // An unknown form must be reported. Otherwise a budget would never count it.
  wrong(new TypeError(`usage: expected some of ${AXES.join(", ")}, got none of them`));
  return undefined;
}

function hasFields(usage: object): boolean {
  try {
    return Object.keys(usage).length > 0;
  } catch {
    return false;
  }
}

function textOf(value: unknown, field: string, wrong: Wrong): string | undefined {
  if (value === null || value === undefined) return undefined;
  try {
    return String(value);
  } catch {
    wrong(new TypeError(`${field}: expected a text, got ${typeof value}`));
    return undefined;
  }
}

function textsOf(value: unknown, wrong: Wrong): readonly string[] | undefined {
  if (value === null || value === undefined) return undefined;
  try {
    if (Array.isArray(value)) return value.map(String);
  } catch {
    // An element cannot be converted. An incomplete list is omitted.
  }
  wrong(new TypeError(`finishReasons: expected a list of texts, got ${typeof value}`));
  return undefined;
}
