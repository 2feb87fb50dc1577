import { ATTRIBUTES } from "../../events/door.ts";
import type { ViewAttributes, ViewSpan, ViewValue } from "../format.ts";

/** Attributes of this package's that are lists. */
const LISTS: readonly string[] = Object.entries(ATTRIBUTES)
  .filter(([, { type }]) => type === "string[]")
  .map(([name]) => name);

/** A span as it was sent: Jaeger stores lists as text in JSON. */
export function asSent(span: ViewSpan): ViewSpan {
  const lists = LISTS.flatMap((name) => {
    const list = listIn(span.attributes[name]);
    return list === undefined ? [] : [[name, list] as const];
  });
  if (lists.length === 0) return span;
  const attributes: ViewAttributes = { ...span.attributes, ...Object.fromEntries(lists) };
  return { ...span, attributes };
}

function listIn(value: ViewValue | undefined): readonly string[] | undefined {
  if (typeof value !== "string") return undefined;
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) && list.every((each) => typeof each === "string") ? list : undefined;
  } catch {
    return undefined;
  }
}
