import type { SpanChoices } from "../bridge/door.ts";

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
  "no-steps": {
    type: "boolean",
    about: "Make no spans of steps: nodes of a graph, retrievals.",
  },
} as const;

export function spanChoices(
  values: Readonly<Partial<Record<keyof typeof SPAN_OPTIONS, boolean>>>,
): SpanChoices {
  return {
    captureContent: values["capture-content"],
    approvalPerson: values["approval-person"],
    exceptions: values["no-exceptions"] !== true,
    steps: values["no-steps"] !== true,
  };
}
