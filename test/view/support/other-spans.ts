import { fileURLToPath } from "node:url";
import type { RunDetail, ViewRun, ViewSpan } from "../../../src/view/format.ts";
import { type ChatMessage, conversationOf } from "../../../src/view/model/conversation.ts";
import { errorOf } from "../../../src/view/model/failures.ts";
import { shortName } from "../../../src/view/model/span-words.ts";
import { ownUsage } from "../../../src/view/model/usage.ts";
import { viewSpanIn } from "../../../src/view/sources/view-span.ts";
import { ALL, detailsOf, withRuns } from "./opened.ts";

/** Runs of a file of `test/view/sources/spans`, which real instrumentations sent, in their order. */
export async function otherRuns(name: string, content = true): Promise<RunDetail[]> {
  const path = fileURLToPath(new URL(`../sources/spans/${name}.ndjson`, import.meta.url));
  const details = await withRuns([path], { ...ALL, content }, detailsOf);
  return [...details.values()].sort((one, other) =>
    one.run.start_ns < other.run.start_ns ? -1 : 1,
  );
}

/** What the list shows of a run. */
export function listed({ run }: { readonly run: ViewRun }) {
  const { agent, cost_usd, input_tokens, outcome, output_tokens } = run;
  return [agent, outcome, input_tokens, output_tokens, cost_usd];
}

/** What the page shows of a span besides its messages: `tool refund: {"order":17} ✗ the ledger is closed`. */
export function shown(span: ViewSpan): string {
  const { attributes, failed, kind } = span;
  const { cost, input, output } = ownUsage(span);
  const given = attributes["gen_ai.tool.call.arguments"];
  const result = attributes["gen_ai.tool.call.result"];
  return [
    `${kind} ${shortName(span)}`,
    ...(input === undefined ? [] : [`${input}/${output}`]),
    ...(cost === undefined ? [] : [`$${cost}`]),
    ...(given === undefined ? [] : [`${given}`]),
    ...(result === undefined ? [] : [`→ ${result}`]),
    ...(failed ? [`✗ ${errorOf(span)?.message}`] : []),
  ].join(" ");
}

/** The messages of a span: `input user: Where is order 17?`. */
export function messages(span: ViewSpan | undefined): readonly string[] {
  return span === undefined ? [] : conversationOf(span).map(messageText);
}

function messageText({ from, parts, role }: ChatMessage): string {
  const texts = parts.map(({ callId, kind, name, text }) =>
    kind === "text" ? text : [kind, name, callId, text.replaceAll(/\s+/g, "")].join(" ").trim(),
  );
  return `${from} ${role}: ${texts.join(", ")}`;
}

/** The last span of this kind. */
export function lastOf(spans: readonly ViewSpan[], kind: ViewSpan["kind"]): ViewSpan | undefined {
  return spans.findLast((span) => span.kind === kind);
}

type Value = string | number | boolean | readonly unknown[] | { readonly [name: string]: Value };

/** A span of other instrumentation with these attributes, as it is read. */
export function otherSpan(
  attributes: Readonly<Record<string, Value>>,
  rest: object = {},
): ViewSpan {
  const span = viewSpanIn(
    {
      traceId: "0123456789abcdef0123456789abcdef",
      spanId: "0123456789abcdef",
      parentSpanId: "fedcba9876543210",
      name: "span",
      startTimeUnixNano: "1795959321762000000",
      endTimeUnixNano: "1795959321763000000",
      attributes: attributesOf(attributes),
      ...rest,
    },
    (problem) => {
      throw new Error(problem);
    },
  );
  if (span === undefined) throw new Error("expected a span");
  return span;
}

/** Attributes in OTLP/JSON. */
export function attributesOf(attributes: Readonly<Record<string, Value>>) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: otlpValue(value) }));
}

function otlpValue(value: unknown): object {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(otlpValue) } };
  if (typeof value === "object" && value !== null) {
    const values = Object.entries(value).map(([key, each]) => ({ key, value: otlpValue(each) }));
    return { kvlistValue: { values } };
  }
  if (typeof value === "number") return { doubleValue: value };
  return typeof value === "boolean" ? { boolValue: value } : { stringValue: value };
}
