import type { ViewRow, ViewSpan } from "../format.ts";
import { fieldsOf, textIn } from "./attributes.ts";
import { jsonOf } from "./json-text.ts";
import { ancestorsOf, type SpanNode, type SpanTree } from "./span-tree.ts";

/**
 * The failure that came first: of the failed spans without a failed one under them, the one that ended
 * earliest. Its parents failed because of it.
 */
export function firstFailure(tree: SpanTree): SpanNode | undefined {
  const above = new Set<SpanNode>();
  let first: SpanNode | undefined;
  for (let at = tree.nodes.length - 1; at >= 0; at--) {
    const node = tree.nodes[at];
    if (node === undefined) continue;
    const isAbove = above.has(node);
    if ((isAbove || node.span.failed) && node.parent !== undefined) above.add(node.parent);
    if (!node.span.failed || isAbove) continue;
    if (first === undefined || endOf(node) <= endOf(first)) first = node;
  }
  return first;
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
  /** Text that the model received. */
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
