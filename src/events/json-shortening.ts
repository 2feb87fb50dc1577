import {
  Base64,
  Branch,
  bytesOf,
  type FieldNode,
  FieldsNode,
  isPlainText,
  type JsonNode,
  Leaf,
  ListNode,
  type ListPart,
  LongText,
  WrittenNode,
} from "./json-nodes.ts";

// Long JSON is shortened inside: long texts are cut, then entries of long lists and objects are left out. The result
// is valid JSON, and the same for equal values. It reads no more of the value than it writes.

/** How entries of a list are written. */
export interface ListStyle {
  /** Least bytes of an entry, if it needs them. With less room, entries are left out. */
  readonly least: number;
  readonly write: (entry: JsonNode, room: number) => string;
  /** The JSON that replaces the entries left out. */
  readonly mark: (count: number) => string | undefined;
}

/** Least bytes of a value in a list or an object. */
const LEAST = 24;

/** The same for a list or an object inside a list, if there is room. */
const LEAST_NESTED = 96;

/** Least bytes of a name, a colon and a value. */
const LEAST_FIELD = 4;

/** Bytes of `"…":" fields left out"`. The character `…` takes three. */
const FIELDS_MARK = 25;

/** Most fields that are skipped because they do not fit, in favour of later fields that do. */
const MOST_SKIPPED = 64;

/** If sizes differ for each entry, there could be as many rounds as entries. */
const MOST_ROUNDS = 24;

/** A text is counted to its end if it is at most this many times as long as its room. */
const COUNTED = 16;

const ANY_LIST: ListStyle = {
  least: LEAST,
  write: writeWithin,
  mark: (count) => JSON.stringify(`… [${count} items left out]`),
};

/** JSON of at most `room` bytes. From 2 bytes there is always a result. */
export function writeWithin(node: JsonNode, room: number): string {
  if (!node.whole) node.measure(room);
  if (node.whole && node.size <= room) return node.write();
  if (node instanceof WrittenNode) return writeWithin(node.open(), room);
  if (node instanceof LongText) return writeText(node.text, room);
  if (node instanceof Base64) {
    return node.summary.size <= room ? node.summary.json : shortest(room);
  }
  if (node instanceof FieldsNode) return writeFields(node, room);
  return node instanceof ListNode ? writeList(node, room, ANY_LIST) : writeLeaf(node, room);
}

/** A short text is cut like a long one. */
function writeLeaf(node: JsonNode, room: number): string {
  const json = node.write();
  return json.startsWith('"') ? writeText(String(JSON.parse(json)), room) : shortest(room);
}

/**
 * A list of at most `room` bytes. Its entries are shortened, and if they are too many, some in the middle are left
 * out.
 */
export function writeList(list: ListNode, room: number, style: ListStyle): string {
  if (!list.whole) list.measure(room);
  if (list.whole && list.size <= room) return list.write();
  const { least, mark, write } = style;
  const nested = Math.max(least, Math.min(LEAST_NESTED, room >> 3));
  const { count } = list;
  // Each entry takes at least a byte and a comma.
  if (count * 2 <= room) {
    list.takeUpTo(count);
    const level = levelFor(list.entries, room - 1 - count, list);
    if (level >= least || (count === 1 && level > 0)) {
      let text = "";
      for (const entry of list.entries) text += `,${write(entry, level)}`;
      return `[${text.slice(1)}]`;
    }
  }
  const reserved = bytesOf(mark(count) ?? "");
  let left = room - 2 - reserved;
  if (left < 0) return "[]";
  const [fronts, backs]: [ListPart[], ListPart[]] = [[], []];
  const nodes: JsonNode[] = [];
  let written = 0;
  // Reads an entry only if the smallest one would fit.
  while (left >= 2 && fronts.length + backs.length < count) {
    const fromFront = !list.hasBack || fronts.length <= backs.length;
    const part = list.part(fromFront ? fronts.length : count - 1 - backs.length);
    if (typeof part === "string") {
      left -= 1 + part.length;
      if (left < 0) break;
      written += part.length;
    } else {
      // A list or an object with very little room would say little.
      const needed = part instanceof Branch || part instanceof WrittenNode ? nested : least;
      part.measure(needed);
      left -= 1 + Math.min(part.size, needed);
      if (left < 0) break;
      nodes.push(part);
    }
    (fromFront ? fronts : backs).push(part);
  }
  const kept = fronts.length + backs.length;
  const level = levelFor(nodes, room - 2 - reserved - kept - written);
  const textOf = (part: ListPart) => (typeof part === "string" ? part : write(part, level));
  let text = "";
  for (const part of fronts) text += `,${textOf(part)}`;
  const marked = mark(count - kept);
  if (marked !== undefined) text += `,${marked}`;
  for (const part of backs.reverse()) text += `,${textOf(part)}`;
  return `[${text.slice(1)}]`;
}

/**
 * An object of at most `room` bytes. Its values are shortened, and if they are too many, the last fields are left
 * out.
 */
export function writeFields(fields: FieldsNode, room: number): string {
  if (!fields.whole) fields.measure(room);
  if (fields.whole && fields.size <= room) return fields.write();
  const { count } = fields;
  if (count * LEAST_FIELD <= room) {
    fields.takeUpTo(count);
    const level = levelFor(fields.entries, room - fields.size + valueBytes(fields.entries), fields);
    if (level >= LEAST) return joinFields(fields.names, fields.entries, level);
  }
  const reserved = FIELDS_MARK + String(count).length;
  let left = room - 2 - reserved;
  if (left < 0) return room < 2 ? shortest(room) : "{}";
  const [names, entries]: [string[], JsonNode[]] = [[], []];
  let fixed = 2 + reserved;
  let skipped = 0;
  for (let index = 0; left >= LEAST_FIELD && skipped < MOST_SKIPPED; index += 1) {
    fields.takeUpTo(index + 1);
    const name = fields.names[index];
    const entry = fields.entries[index];
    if (name === undefined || entry === undefined) break;
    const around = bytesOf(name) + 2;
    entry.measure(LEAST);
    const cost = around + Math.min(entry.size, LEAST);
    if (cost > left) {
      skipped += 1;
      continue;
    }
    left -= cost;
    fixed += around;
    names.push(name);
    entries.push(entry);
  }
  const all = fields.ended ? fields.entries.length : count;
  names.push('"…"');
  const note = `"${all - entries.length} fields left out"`;
  const level = levelFor(entries, room - fixed);
  entries.push(new Leaf(note, level));
  return joinFields(names, entries, level);
}

/**
 * The most bytes for each entry with which all fit. Smaller entries stay complete. The entries are measured up to
 * this level.
 *
 * @param around the node that contains the entries. Its size grows with theirs.
 */
export function levelFor(
  entries: readonly JsonNode[],
  room: number,
  around?: { grow(entry: JsonNode, upTo: number): void },
): number {
  let open = entries;
  let left = room;
  if (allFit(entries, room)) return Number.POSITIVE_INFINITY;
  for (let round = 1; open.length > 0; round += 1) {
    const level = Math.max(0, Math.floor(left / open.length));
    const above: JsonNode[] = [];
    for (const entry of open) {
      if (around === undefined) entry.measure(level);
      else around.grow(entry, level);
      if (entry.whole && entry.size <= level) left -= entry.size;
      else above.push(entry);
    }
    if (above.length === open.length || round === MOST_ROUNDS) return level;
    open = above;
  }
  return Number.POSITIVE_INFINITY;
}

/** Whether all entries fit without measuring or cutting. */
function allFit(entries: readonly JsonNode[], room: number): boolean {
  let left = room;
  for (const { size, whole } of entries) {
    left -= size;
    if (left < 0 || !whole) return false;
  }
  return true;
}

/** A text of at most `room` bytes of JSON, cut between characters, with the number of missing bytes. */
function writeText(text: string, room: number): string {
  const counted = text.length <= room * COUNTED;
  const total = counted ? bytesOf(text) : text.length;
  const mark = (bytes: number) => `… [${counted ? "" : "more than "}${bytes} bytes cut]`;
  const longest = bytesOf(mark(total));
  if (room < longest + 2) return shortest(room);
  const kept = withinEscaped(text, room - 2 - longest);
  const missing = counted ? total - bytesOf(kept) : text.length - kept.length - 1;
  return JSON.stringify(kept + mark(missing));
}

function shortest(room: number): string {
  if (room >= 5) return '"…"';
  return room >= 2 ? '""' : "0";
}

function valueBytes(entries: readonly JsonNode[]): number {
  return entries.reduce((sum, { size }) => sum + size, 0);
}

/** Texts are concatenated: joining would copy them at each level. */
function joinFields(names: readonly string[], entries: readonly JsonNode[], level: number): string {
  let text = "{";
  for (let index = 0; index < entries.length; index += 1) {
    const entry = entries[index];
    if (entry === undefined) continue;
    text += index === 0 ? "" : ",";
    text += names[index];
    text += ":";
    text += writeWithin(entry, level);
  }
  return `${text}}`;
}

/** The longest start of a text that takes at most `room` bytes within a JSON text. */
function withinEscaped(text: string, room: number): string {
  const head = text.slice(0, room);
  if (isPlainText(head)) return head;
  let [end, left] = [0, room];
  while (end < text.length) {
    const code = text.codePointAt(end) ?? 0;
    left -= escapedBytes(code);
    if (left < 0) break;
    end += code > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}

function escapedBytes(code: number): number {
  // The escapes of two characters: a quote, a backslash, and \b \t \n \f \r.
  if (code === 0x22 || code === 0x5c) return 2;
  if (code < 0x20) return (code >= 0x08 && code <= 0x0a) || code === 0x0c || code === 0x0d ? 2 : 6;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  if (code >= 0xd800 && code <= 0xdfff) return 6;
  return code <= 0xffff ? 3 : 4;
}

/**
 * Some fields of an object, in another order.
 *
 * @param names as JSON.
 * @param rest whether the fields that were not read yet follow.
 * @param form returns the value to write.
 */
export function chosenFields(
  from: FieldsNode,
  names: readonly string[],
  rest = false,
  form = (value: JsonNode, _name: string): JsonNode => value,
): FieldsNode {
  const found: FieldNode[] = [];
  for (const name of names) {
    const value = from.find(name);
    if (value !== undefined) found.push({ name, value: form(value, name) });
  }
  const unread = rest ? from.count - from.entries.length : 0;
  let at = 0;
  return new FieldsNode(from.origin, from.parent, found.length + unread, () => {
    const known = found[at];
    at += 1;
    if (known !== undefined || !rest || !from.take()) return known;
    const [name, value] = [from.names.at(-1), from.entries.at(-1)];
    return name === undefined || value === undefined
      ? undefined
      : { name, value: form(value, name) };
  });
}
