import { count } from "../../events/format/door.ts";
import type { RunOutcome, ViewRow, ViewSpan } from "../format.ts";
import { fieldsOf, textIn } from "./attributes.ts";
import { jsonOf } from "./json-text.ts";
import { ancestorsOf, type SpanNode, type SpanTree } from "./span-tree.ts";

/**
 * The failures of a run in the order of their ends: the failed spans without those that failed because of one below
 * them.
 */
export function failuresIn(tree: SpanTree): readonly SpanNode[] {
  const failing = new Set<SpanNode>();
  const causes: SpanNode[] = [];
  const own: SpanNode[] = [];
  for (let at = tree.nodes.length - 1; at >= 0; at--) {
    const node = tree.nodes[at];
    if (node === undefined) continue;
    const below = node.children.filter((child) => failing.has(child));
    if (below.length > 0 || node.span.failed) failing.add(node);
    if (!node.span.failed) continue;
    if (below.length === 0) causes.push(node);
    else if (wentOn(node, below)) own.push(node);
  }
  // Causes come first where ends are equal: a parent may end with its child.
  return [...causes.reverse(), ...own.reverse()].sort(
    (one, other) => Number(endOf(one) > endOf(other)) - Number(endOf(one) < endOf(other)),
  );
}

/** Whether another child began after those that failed had ended: then a span's own failure is a further one. */
function wentOn({ children }: SpanNode, failing: readonly SpanNode[]): boolean {
  const last = children.at(-1)?.start ?? 0;
  return failing.every((child) => endOf(child) < last);
}

/** What a failure was for its run; `undefined` if its error says enough. */
export function failureText(
  node: SpanNode,
  failures: readonly SpanNode[],
  outcome: RunOutcome,
): string | undefined {
  const at = failures.indexOf(node);
  if (at < 0) return undefined;
  const recovered = outcome === "complete" ? " The run went on and completed." : "";
  if (failures.length === 1) return recovered === "" ? undefined : recovered.trim();
  const place = at === 0 ? "First" : `No. ${count(at + 1)}`;
  return `${place} of ${count(failures.length)} failures.${recovered}`;
}

/** The failure below a span because of which it failed; `undefined` if there is none. */
export function causeOf(node: SpanNode, failures: readonly SpanNode[]): SpanNode | undefined {
  if (!node.span.failed || failures.includes(node)) return undefined;
  for (let at = failures.length - 1; at >= 0; at--) {
    const failure = failures[at];
    if (failure === undefined) continue;
    for (const around of ancestorsOf(failure)) if (around === node) return failure;
  }
  return undefined;
}

/** Failed spans and their ancestors. */
export function failedAndAbove(tree: SpanTree): ReadonlySet<SpanNode> {
  const shown = new Set<SpanNode>();
  for (const node of tree.nodes) {
    if (!node.span.failed) continue;
    shown.add(node);
    for (const around of ancestorsOf(node)) {
      if (shown.has(around)) break;
      shown.add(around);
    }
  }
  return shown;
}

/** Errors of a failed span: the operator's text and the model's text. */
export interface SpanError {
  /** Description of the status, or the operator's text of a span that did not fail. */
  readonly message?: string;
  /** `error.type`. */
  readonly type?: string;
  readonly exceptions: readonly SpanException[];
  /** The text that the model received, from the history of a later call. Then there is no `modelText`. */
  readonly received?: string;
  /** The sender's text for the model. An own loop may send another one, and after the last call no model gets it. */
  readonly modelText?: string;
  /** It is not known what the model received. */
  readonly modelTextUnknown: boolean;
}

export interface SpanException {
  readonly type?: string;
  readonly message?: string;
  readonly stack?: string;
}

/**
 * `undefined` if the span did not fail.
 *
 * @param rows audit rows of the span: they have what the model received, also where the span does not.
 */
export function errorOf(span: ViewSpan, rows: readonly ViewRow[] = []): SpanError | undefined {
  const { attributes, events, failed } = span;
  const message = span.message ?? textIn(attributes, "entelix.error.message");
  const exceptions = events
    .filter(({ name }) => name === "exception")
    .map((event) => ({
      ...optional("type", textIn(event.attributes, "exception.type")),
      ...optional("message", textIn(event.attributes, "exception.message")),
      ...optional("stack", textIn(event.attributes, "exception.stacktrace")),
    }));
  const modelText = textIn(attributes, "entelix.tool.model_text") ?? modelTextIn(rows);
  const modelTextUnknown = attributes["entelix.tool.model_text_unknown"] === true;
  const isNothing = message === undefined && exceptions.length === 0 && modelText === undefined;
  if (!failed && isNothing && !modelTextUnknown) return undefined;
  return {
    ...optional("message", message),
    ...optional("type", textIn(attributes, "error.type")),
    exceptions,
    ...optional("modelText", modelText),
    modelTextUnknown,
  };
}

/** An error whose text for the model was found in the history of a later call: that is what the model received. */
export function receivedError(error: SpanError, received: string | undefined): SpanError {
  if (received === undefined) return error;
  const { modelText: _own, ...rest } = error;
  return { ...rest, received, modelTextUnknown: false };
}

/** The operator's text of a failed span in one piece; without it, the type of the error. */
export function errorText({ attributes, events, message }: ViewSpan): string | undefined {
  const exception = events.find(({ name }) => name === "exception");
  return (
    message ??
    textIn(attributes, "entelix.error.message") ??
    (exception && textIn(exception.attributes, "exception.message")) ??
    textIn(attributes, "error.type")
  );
}

/** Text of the result of a failed call. */
function modelTextIn(rows: readonly ViewRow[]): string | undefined {
  for (const { event, kind } of rows) {
    const { content, is_error } = fieldsOf(event) ?? {};
    if (kind !== "tool_result" || is_error !== true || content === undefined) continue;
    return typeof content === "string" ? content : jsonOf(content);
  }
  return undefined;
}

function endOf({ end }: SpanNode): number {
  return end ?? Number.POSITIVE_INFINITY;
}

function optional<K extends string>(name: K, value: string | undefined): { [name in K]?: string } {
  const fields: { [name in K]?: string } = {};
  if (value !== undefined) fields[name] = value;
  return fields;
}
