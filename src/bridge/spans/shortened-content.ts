import {
  boundedJson,
  bytesOf,
  chosenFields,
  FieldsNode,
  type JsonNode,
  knownSize,
  Leaf,
  ListNode,
  type ListStyle,
  levelFor,
  plainJson,
  ValueReader,
  writeFields,
  writeList,
  writeWithin,
} from "../../events/door.ts";

/** What a content attribute holds: it is shortened so that it keeps its form. */
export type ContentShape = "value" | "messages" | "parts" | "tools";

/** JSON within its limit, and what it has not. */
export interface Shortened {
  readonly text: string;
  /** Bytes, at least. */
  readonly cutBytes: number;
  readonly droppedMessages: number;
}

/** A message that is among too many keeps at least so many bytes, if it has them. */
const MESSAGE_LEAST = 1024;
/** Enough for each field that a part of a known type must have. */
const PART_LEAST = 160;
const TOOL_LEAST = 128;
/** What takes part in a message beside its parts, at most each. */
const WORD_MOST = 64;
/** Times the limit that is measured. */
const COUNTED = 4;
/** `{"role":"…","parts":[]}` */
const EMPTY_MESSAGE = 24;

/**
 * A value as JSON within a limit in bytes (UTF-8), the same for equal values. Long texts are cut in their
 * place. Of too many messages those in the middle are dropped: the first, the first and the newest question,
 * and the newest ones stay.
 *
 * @param limit from 64; below, the result may be an empty value.
 */
export function shortened(value: unknown, limit: number, shape: ContentShape): Shortened {
  const fitting = plainJson(value, limit);
  if (fitting !== undefined) return { text: fitting, cutBytes: 0, droppedMessages: 0 };
  const node = new ValueReader(SPAN_FORMS, limit, false).node(value, "", undefined);
  if (shape === "value" || !(node instanceof ListNode)) {
    const { cutBytes, text } = boundedJson(value, { ...SPAN_FORMS, bytes: limit });
    return { text, cutBytes, droppedMessages: 0 };
  }
  node.measure(limit);
  if (node.whole && node.size <= limit) {
    return { text: node.write(), cutBytes: 0, droppedMessages: 0 };
  }
  // What a sender says was bounded before: to measure more of it says how much is missing.
  node.measure(COUNTED * limit);
  const { droppedMessages, text } = writeShape(node, limit, shape);
  return { text, cutBytes: Math.max(1, knownSize(node) - bytesOf(text)), droppedMessages };
}

/** Bytes by type and length; an error with its text: content and operator text may be on spans. */
export const SPAN_FORMS = { binary: "summary", errorText: true } as const;

function writeShape(
  list: ListNode,
  limit: number,
  shape: Exclude<ContentShape, "value">,
): { readonly text: string; readonly droppedMessages: number } {
  switch (shape) {
    case "messages":
      return writeMessages(list, limit);
    case "parts":
      return { text: writeList(list, limit, PARTS), droppedMessages: 0 };
    case "tools":
      return { text: writeList(list, limit, TOOLS), droppedMessages: 0 };
    default:
      return shape satisfies never;
  }
}

const PARTS: ListStyle = {
  least: PART_LEAST,
  write: writePart,
  mark: (count) => `{"type":"text","content":"… [${count} parts left out]"}`,
};

const TOOLS: ListStyle = {
  least: TOOL_LEAST,
  write: (tool, room) => writeFirst(tool, room, ["type", "name"]),
  mark: () => undefined,
};

function writeMessages(
  list: ListNode,
  limit: number,
): { readonly text: string; readonly droppedMessages: number } {
  list.takeUpTo(list.count);
  const kept = keptMessages(list.entries, limit);
  const chosen = list.entries.filter((_, index) => kept.has(index));
  const level = levelFor(chosen, limit - 1 - chosen.length);
  const texts = chosen.map((message) => writeMessage(message, level));
  return { text: `[${texts.join(",")}]`, droppedMessages: list.count - chosen.length };
}

/** Which messages stay: the first and the newest, the questions, and as many before the newest as fit. */
function keptMessages(messages: readonly JsonNode[], limit: number): ReadonlySet<number> {
  const last = messages.length - 1;
  const kept = new Set<number>();
  let left = limit - 1;
  const keep = (index: number, always = false): boolean => {
    if (kept.has(index)) return true;
    messages[index]?.measure(MESSAGE_LEAST);
    const cost = 1 + Math.min(messages[index]?.size ?? 0, MESSAGE_LEAST);
    if (cost > left && !always) return false;
    left -= cost;
    kept.add(index);
    return true;
  };
  keep(last, true);
  if (limit >= 2 * EMPTY_MESSAGE + 3) keep(0, true);
  for (const index of [messages.findLastIndex(isQuestion), messages.findIndex(isQuestion)]) {
    if (index >= 0) keep(index);
  }
  for (let index = last - 1; index > 0 && keep(index); ) index -= 1;
  return kept;
}

function isQuestion(message: JsonNode): boolean {
  return message instanceof FieldsNode && jsonOf(message, "role") === '"user"';
}

function writeMessage(message: JsonNode, room: number): string {
  message.measure(room);
  if (!(message instanceof FieldsNode) || (message.whole && message.size <= room)) {
    return writeWithin(message, room);
  }
  const [role, parts] = [message.find('"role"'), message.find('"parts"')];
  if (role === undefined || !(parts instanceof ListNode)) return writeWithin(message, room);
  const said = writeWithin(role, Math.min(WORD_MOST, room - EMPTY_MESSAGE + 5));
  const head = `{"role":${said},"parts":`;
  let tail = "}";
  for (const name of ['"finish_reason"', '"name"']) {
    const field = message.find(name);
    if (field === undefined) continue;
    const text = `,${name}:${writeWithin(field, WORD_MOST)}`;
    // A message without parts says nothing: these two may be missing first.
    if (bytesOf(head) + bytesOf(text) + bytesOf(tail) + PART_LEAST / 4 > room) continue;
    tail = `${text}${tail}`;
  }
  return `${head}${writeList(parts, room - bytesOf(head) - bytesOf(tail), PARTS)}${tail}`;
}

/** The fields that say something of parts that the conventions know. */
const PART_FIELDS = [
  '"type"',
  '"id"',
  '"name"',
  '"modality"',
  '"mime_type"',
  '"content"',
  '"uri"',
  '"file_id"',
  '"arguments"',
  '"response"',
  '"server_tool_call"',
  '"server_tool_call_response"',
];

const KNOWN_PARTS: ReadonlySet<string | undefined> = new Set([
  '"text"',
  '"reasoning"',
  '"tool_call"',
  '"tool_call_response"',
  '"server_tool_call"',
  '"server_tool_call_response"',
  '"blob"',
  '"uri"',
  '"file"',
]);

function writePart(part: JsonNode, room: number): string {
  part.measure(room);
  if (!(part instanceof FieldsNode) || (part.whole && part.size <= room)) {
    return writeWithin(part, room);
  }
  const type = jsonOf(part, "type");
  if (type === '"blob"') return writeWithin(leftOut(part), room);
  return KNOWN_PARTS.has(type)
    ? writeFields(chosenFields(part, PART_FIELDS), room)
    : writeFirst(part, room, ["type"]);
}

/** Base64 that is cut is none: a note stands in place of the whole blob. */
function leftOut(blob: FieldsNode): JsonNode {
  const mime = blob.find('"mime_type"');
  mime?.measure(WORD_MOST);
  const known = mime?.whole === true ? String(JSON.parse(mime.write())) : "blob";
  const content = `… [${known}, ${knownSize(blob)} bytes left out]`;
  return textPart(content);
}

function textPart(content: string): JsonNode {
  return new Leaf(JSON.stringify({ type: "text", content }));
}

/** An object with some of its fields first, so that they are not among those that are left out. */
function writeFirst(node: JsonNode, room: number, first: readonly string[]): string {
  if (!(node instanceof FieldsNode)) return writeWithin(node, room);
  const names = first.map((name) => JSON.stringify(name));
  for (const name of names) node.find(name);
  const rest = node.names.filter((name) => !names.includes(name));
  // Fields that nobody has read yet are the last ones, and follow by themselves.
  return writeFields(chosenFields(node, [...names, ...rest], true), room);
}

/** A field's JSON, where it is short. */
function jsonOf(fields: FieldsNode, name: string): string | undefined {
  const node = fields.find(JSON.stringify(name));
  return node instanceof Leaf ? node.json : undefined;
}
