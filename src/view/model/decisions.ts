import { cut } from "../../events/format/door.ts";
import type { ViewAttributes, ViewDecision, ViewRow } from "../format.ts";
import { fieldsOf, fieldText, numberIn, textIn } from "./attributes.ts";
import { jsonLine, parsedJson } from "./json-text.ts";
import type { SpanNode, SpanTree } from "./span-tree.ts";
import { afterText } from "./story-words.ts";

/** A decision about a tool call. */
export interface RowDecision {
  readonly tool?: string;
  /** `approved`, `denied`, `edited`, `answered`. */
  readonly decision: string;
  /** `user` or `policy`. */
  readonly by?: string;
  readonly person?: string;
  readonly reason?: string;
  /** How long the decision took. */
  readonly wait_ms?: number;
  /** The input before a person edited it. */
  readonly proposed?: unknown;
}

const DECIDED = "entelix.tool_call_decided";

/** The decision in a row; `undefined` if the row has no decision or no content. */
export function decisionIn({ event, kind }: ViewRow): RowDecision | undefined {
  const decision = fieldText(event, "decision");
  if (kind !== DECIDED || decision === undefined) return undefined;
  const fields = fieldsOf(event) ?? {};
  const { proposed_input: proposed, wait_ms } = fields;
  return {
    ...textsOf((name) => fieldText(fields, name), { tool: "name", ...ROW_NAMES }),
    decision,
    ...(typeof wait_ms === "number" ? { wait_ms } : {}),
    ...(proposed === undefined ? {} : { proposed }),
  };
}

/** The decisions about tool calls, from their audit rows, else from the spans. */
export function decisionsBySpan(
  tree: SpanTree,
  rows: readonly ViewRow[],
): ReadonlyMap<SpanNode, RowDecision> {
  // `undefined`: several rows have the same IDs, so the call of each is unknown.
  const ofCall = new Map<string, ViewRow | undefined>();
  for (const row of rows) {
    const callId = fieldText(row.event, "tool_use_id");
    if (row.kind !== DECIDED || row.run_id === null || callId === undefined) continue;
    const key = callKey(row.run_id, callId);
    ofCall.set(key, ofCall.has(key) ? undefined : row);
  }
  const found = new Map<SpanNode, RowDecision>();
  for (const node of tree.nodes) {
    const { attributes, kind, run_id } = node.span;
    if (kind !== "tool") continue;
    const callId = textIn(attributes, "gen_ai.tool.call.id");
    const isNamed = run_id !== undefined && callId !== undefined;
    const row = isNamed ? ofCall.get(callKey(run_id, callId)) : undefined;
    const decision = (row && decisionIn(row)) ?? decisionOfAttributes(attributes);
    if (decision !== undefined) found.set(node, decision);
  }
  return found;
}

/**
 * Whether two descriptions of a decision are of the same one: each may have a field that the other lacks. IDs of calls
 * may repeat in a run.
 */
export function isSameDecision(one: ViewDecision, other: ViewDecision): boolean {
  if (one.call_id === "" || one.call_id !== other.call_id) return false;
  if (one.outcome !== other.outcome) return false;
  return (["by", "person", "wait_ms"] as const).every(
    (name) => one[name] === undefined || other[name] === undefined || one[name] === other[name],
  );
}

/** The call of a run that a decision is about; `undefined` if it is not known. Sub-agents may use the same IDs. */
export function callOf(
  decision: ViewDecision,
  runId: string,
  decisions: ReadonlyMap<SpanNode, RowDecision>,
): SpanNode | undefined {
  const { call_id } = decision;
  if (call_id === "") return undefined;
  let found: SpanNode | undefined;
  for (const [node, { decision: outcome, ...known }] of decisions) {
    const { attributes, run_id } = node.span;
    if (run_id !== runId || attributes["gen_ai.tool.call.id"] !== call_id) continue;
    // The log may say more of the decision than the span, but the ID is mostly enough.
    if (isSameDecision(decision, { ...decision, ...known, outcome })) return node;
    found ??= node;
  }
  return found;
}

/** `edited by ann@acme.test after 1.2 s` */
export function decisionWords({ by, decision, person, wait_ms }: RowDecision): string {
  const who = person ?? (by === "policy" ? "a rule" : by === "user" ? "a person" : by);
  return `${decision}${who === undefined ? "" : ` by ${who}`}${afterText(wait_ms)}`;
}

/** Changed fields that are named. */
const MOST_CHANGES = 3;
/** Longest text of a value, in characters. */
const MOST_VALUE = 40;

/**
 * What a person changed in the input of a call: `euros 41.9 → 20`. `undefined` if nothing is known to have changed.
 *
 * @param proposed the input that the model gave.
 */
export function changeText({ span }: SpanNode, proposed: unknown): string | undefined {
  const given = textIn(span.attributes, "gen_ai.tool.call.arguments");
  if (proposed === undefined || given === undefined) return undefined;
  const input = parsedJson(given) ?? given;
  const [before, after] = [fieldsOf(proposed), fieldsOf(input)];
  if (before === undefined || after === undefined) return changed("", proposed, input);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changes = names.flatMap((name) => changed(name, before[name], after[name]) ?? []);
  if (changes.length === 0) return undefined;
  const more = changes.length - MOST_CHANGES;
  return `${changes.slice(0, MOST_CHANGES).join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
}

function changed(name: string, before: unknown, after: unknown): string | undefined {
  const [one, other] = [valueText(before), valueText(after)];
  if (one === other) return undefined;
  const short = (text: string) => {
    const { isCut, text: start } = cut(text, MOST_VALUE);
    return isCut ? `${start}…` : start;
  };
  return `${name === "" ? "" : `${short(name)} `}${short(one)} → ${short(other)}`;
}

function valueText(value: unknown): string {
  if (value === undefined) return "nothing";
  return typeof value === "string" ? value : jsonLine(value);
}

/** Run and ID of a call in one text. */
export function callKey(runId: string | undefined, callId: string): string {
  return JSON.stringify([runId ?? "", callId]);
}

/** The decision in the attributes of a call, or of a run's event about it. */
export function decisionOfAttributes(attributes: ViewAttributes): RowDecision | undefined {
  const decided = decidedIn(attributes);
  const proposed = textIn(attributes, "entelix.approval.proposed_input");
  if (decided === undefined || proposed === undefined) return decided;
  return { ...decided, proposed: parsedJson(proposed) ?? proposed };
}

/** The same without the input before it was edited, which takes long to read. */
export function decidedIn(attributes: ViewAttributes): RowDecision | undefined {
  const decision = textIn(attributes, "entelix.approval.outcome");
  if (decision === undefined) return undefined;
  const wait_ms = numberIn(attributes, "entelix.approval.wait_ms");
  return {
    ...textsOf((name) => textIn(attributes, `entelix.approval.${name}`), ROW_NAMES),
    decision,
    ...(wait_ms === undefined ? {} : { wait_ms }),
  };
}

const ROW_NAMES = { by: "by", person: "person", reason: "reason" } as const;

/** The texts that are known, by the names of a decision. */
function textsOf<K extends string>(
  read: (name: string) => string | undefined,
  names: Readonly<Record<K, string>>,
): { [name in K]?: string } {
  const fields: { [name in K]?: string } = {};
  for (const name in names) {
    const text = read(names[name]);
    if (text !== undefined) fields[name] = text;
  }
  return fields;
}
