import { expect } from "vitest";
import { type Instant, type JsonValue, parseExact } from "../../../src/entries/events.ts";
import { readTimestamp } from "../../../src/events/door.ts";
import { isJsonObject } from "../../../src/replay/door.ts";
import { readText } from "../../support/golden.ts";
import type { SpanNode } from "../../support/spans.ts";

/** A node of `test/expected/*.json`; its README says what the fields mean. */
export interface ExpectedNode {
  readonly span: string;
  readonly run: string;
  readonly trace?: string;
  readonly span_id?: string;
  readonly parent_span?: string;
  readonly status: string;
  readonly description?: string;
  readonly start?: string;
  readonly end?: string;
  readonly links?: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly children: readonly ExpectedNode[];
}

/** The trees of one file, by the name of their stream. */
export function readExpected(file: string): Map<string, ExpectedNode[]> {
  const all = objectOf(parseExact(readText(`expected/${file}`)));
  return new Map(Object.entries(all).map(([name, trees]) => [name, listOf(trees).map(toNode)]));
}

const FIELDS = [
  "span",
  "run",
  "trace",
  "span_id",
  "parent_span",
  "status",
  "description",
  "start",
  "end",
  "links",
  "attributes",
  "children",
];

function toNode(value: JsonValue): ExpectedNode {
  const node = objectOf(value);
  // A field that no test looks at would promise what is not held.
  expect(FIELDS).toEqual(expect.arrayContaining(Object.keys(node)));
  const optional = (field: string) => {
    const text = node[field];
    return text === undefined ? {} : { [field]: textOf(text) };
  };
  return {
    span: textOf(node.span),
    run: textOf(node.run),
    status: textOf(node.status),
    ...optional("trace"),
    ...optional("span_id"),
    ...optional("parent_span"),
    ...optional("description"),
    ...optional("start"),
    ...optional("end"),
    ...(node.links === undefined ? {} : { links: listOf(node.links).map(textOf) }),
    attributes: objectOf(node.attributes),
    children: listOf(node.children).map(toNode),
  };
}

function objectOf(value: JsonValue | undefined): { readonly [key: string]: JsonValue } {
  if (isJsonObject(value)) return value;
  throw new TypeError(`expected an object, got ${typeof value}`);
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return [...value];
  throw new TypeError(`expected a list, got ${typeof value}`);
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  throw new TypeError(`expected text, got ${typeof value}`);
}

/** A time by its value: `12:00:02.5Z` and `12:00:02.500Z` are one. */
export function instant(text: string): Readonly<Instant> {
  const at = readTimestamp(text);
  if (at === undefined) throw new TypeError(`expected a time, got ${text}`);
  return at;
}

/** Attributes that say "failure": only where they are listed. */
const FAILURE = ["error.type", "entelix.failure.kind"];

/** Holds a forest of spans to the expected one, field by field. */
export function expectTrees(
  actual: readonly SpanNode[],
  expected: readonly ExpectedNode[],
  parent?: SpanNode,
): void {
  expect(actual.map((node) => [node.span, node.run])).toEqual(
    expected.map((node) => [node.span, node.run]),
  );
  expected.forEach((want, index) => {
    const node = actual[index];
    if (node === undefined) throw new Error("lengths were equal above");
    const trace = want.trace === "run" ? want.run.replaceAll("-", "") : want.trace;
    expect(node.trace).toBe(trace ?? parent?.trace);
    expect(node.parent).toBe(want.parent_span ?? parent?.span_id);
    expect(node.status).toBe(want.status);
    expect(node.description).toBe(want.description);
    expect(node.attributes).toMatchObject(want.attributes);
    expect(FAILURE.filter((name) => name in node.attributes)).toEqual(
      FAILURE.filter((name) => name in want.attributes),
    );
    if (want.span_id !== undefined) expect(node.span_id).toBe(want.span_id);
    if (want.start !== undefined) expect(instant(node.start)).toEqual(instant(want.start));
    if (want.end !== undefined) expect(instant(node.end)).toEqual(instant(want.end));
    expect(node.links).toEqual(want.links ?? []);
    expectTrees(node.children, want.children, node);
  });
}
