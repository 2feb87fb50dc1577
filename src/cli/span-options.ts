import { CONVENTIONS, type SpanChoices } from "../bridge/door.ts";
import { CliError } from "./cli-error.ts";
import { safe } from "./terminal/text.ts";

/** Options for the content of spans, for every command that makes spans. */
export const SPAN_OPTIONS = {
  "capture-content": {
    type: "boolean",
    about: "Put content on spans: inputs, outputs, state, payloads. Default: off.",
  },
  "approval-person": {
    type: "boolean",
    about: "Name on spans the person who decided about a tool call. Default: off.",
  },
  "no-exceptions": {
    type: "boolean",
    about: "Leave out the exception events of failed spans: class, text and stack.",
  },
  conventions: {
    type: "string",
    value: "NAMES",
    about:
      "Names of attributes on spans: genai, openinference or both. Phoenix and Arize read OpenInference's. Default: genai.",
  },
  "subject-on-all-spans": {
    type: "boolean",
    about: "Put user, session and conversation on every span of a run, not on the run alone.",
  },
  "session-per-tenant": {
    type: "boolean",
    about: "Put the tenant before the IDs of sessions and conversations on spans: tenant/ID.",
  },
  "no-steps": {
    type: "boolean",
    about: "Make no spans of steps: nodes of a graph, retrievals.",
  },
} as const;

type Flag = Exclude<keyof typeof SPAN_OPTIONS, "conventions">;

/** @throws CliError for an unknown `--conventions`. */
export function spanChoices(
  values: Readonly<Partial<Record<Flag, boolean>>> & { readonly conventions?: string },
): SpanChoices {
  return {
    conventions: conventionsOf(values.conventions),
    subjectOnAllSpans: values["subject-on-all-spans"],
    sessionPerTenant: values["session-per-tenant"],
    captureContent: values["capture-content"],
    approvalPerson: values["approval-person"],
    exceptions: values["no-exceptions"] !== true,
    steps: values["no-steps"] !== true,
  };
}

function conventionsOf(text: string | undefined): SpanChoices["conventions"] {
  if (text === undefined) return undefined;
  const known = CONVENTIONS.find((each) => each === text);
  if (known !== undefined) return known;
  const expected = CONVENTIONS.join(", ");
  throw new CliError(`--conventions: expected ${expected}, got "${safe(text)}"`);
}
