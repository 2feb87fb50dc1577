import { parseExact, stringifyExact } from "./exact-json.ts";
import {
  Base64,
  bytesOf,
  FieldsNode,
  HeldText,
  type JsonNode,
  ListNode,
  type ListPart,
} from "./json-nodes.ts";
import { levelFor } from "./json-shortening.ts";
import { ValueReader } from "./json-values.ts";
import { plainJson } from "./plain-json.ts";

/** Most bytes of a copy for a hook. */
export const MOST_COPY = 1024 * 1024;

/** A copy, and the number of entries that are missing from a list at the top. */
export interface BoundedCopy {
  readonly value: unknown;
  readonly dropped: number;
}

/**
 * A copy of a value, in the form of its JSON: `boundedJson` parsed again, with bytes as base64 and the text of
 * errors. It shares no object with the caller. Texts are complete at any length, because a text is not copied. Large
 * lists and objects, and large bytes, are shortened to about `bytes`.
 *
 * @param marked whether a text replaces the missing entries of a list at the top. Default `true`.
 */
export function boundedCopy(value: unknown, bytes: number, marked = true): BoundedCopy {
  const plain = plainJson(value, bytes);
  if (plain !== undefined) return { value: parseExact(plain), dropped: 0 };
  const top = new ValueReader(COPY_FORMS, bytes).node(value, "", undefined);
  if (top === undefined) return { value: parseExact(stringifyExact(value)), dropped: 0 };
  if (!(top instanceof ListNode) || fits(top, bytes))
    return { value: copyOf(top, bytes), dropped: 0 };
  const { copies, left } = copyList(top, bytes, marked);
  return { value: copies, dropped: left };
}

/** Texts are referenced and not written, so they count as short ones. */
const COPY_FORMS = { binary: "base64", errorText: true, holdsTexts: true } as const;

/** Least bytes of an entry, before others are left out. */
const LEAST = 64;

function copyOf(node: JsonNode, room: number): unknown {
  if (node instanceof HeldText) return node.text;
  if (node instanceof Base64)
    return parseExact(node.size <= room ? node.write() : node.summary.json);
  if (node instanceof ListNode) return copyList(node, room, true).copies;
  return node instanceof FieldsNode ? copyFields(node, room) : parseExact(node.write());
}

function fits(node: JsonNode, room: number): boolean {
  node.measure(room);
  return node.whole && node.size <= room;
}

function copyList(
  list: ListNode,
  room: number,
  marked: boolean,
): { readonly copies: unknown[]; readonly left: number } {
  if (fits(list, room)) return { copies: list.entries.map((each) => copyOf(each, room)), left: 0 };
  const [fronts, backs]: [ListPart[], ListPart[]] = [[], []];
  const nodes: JsonNode[] = [];
  let left = room;
  while (fronts.length + backs.length < list.count && left > 0) {
    const fromFront = !list.hasBack || fronts.length <= backs.length;
    const part = list.part(fromFront ? fronts.length : list.count - 1 - backs.length);
    if (typeof part === "string") left -= 1 + part.length;
    else {
      part.measure(LEAST);
      left -= 1 + Math.min(part.size, LEAST);
      nodes.push(part);
    }
    (fromFront ? fronts : backs).push(part);
  }
  const level = levelFor(nodes, room);
  const copyPart = (part: ListPart) =>
    typeof part === "string" ? parseExact(part) : copyOf(part, level);
  const copies = fronts.map(copyPart);
  const missing = list.count - fronts.length - backs.length;
  if (marked && missing > 0) copies.push(`… [${missing} items left out]`);
  for (const part of backs.reverse()) copies.push(copyPart(part));
  return { copies, left: missing };
}

function copyFields(fields: FieldsNode, room: number): unknown {
  const isWhole = fits(fields, room);
  const names: string[] = [];
  const kept: JsonNode[] = [];
  let left = isWhole ? Number.POSITIVE_INFINITY : room;
  for (let index = 0; left > 0; index += 1) {
    fields.takeUpTo(index + 1);
    const [name, entry] = [fields.names[index], fields.entries[index]];
    if (name === undefined || entry === undefined) break;
    entry.measure(LEAST);
    left -= bytesOf(name) + 2 + Math.min(entry.size, LEAST);
    if (left < 0) break;
    names.push(name);
    kept.push(entry);
  }
  const level = levelFor(kept, room);
  const copies = kept.map((entry, index): [string, unknown] => [
    String(JSON.parse(names[index] ?? '""')),
    copyOf(entry, level),
  ]);
  const missing = isWhole ? 0 : fields.count - kept.length;
  if (missing > 0) copies.push(["…", `${missing} fields left out`]);
  return Object.fromEntries(copies);
}
