import {
  boundedJson,
  bytesOf,
  chosenFields,
  FieldsNode,
  type JsonNode,
  joinedSize,
  joinedTexts,
  knownSize,
  Leaf,
  ListNode,
  type ListStyle,
  levelFor,
  MessageText,
  plainJson,
  ValueReader,
  writeFields,
  writeList,
  writeWithin,
} from "../../events/door.ts";

/** The form of a content attribute, which shortening keeps. */
export type ContentShape = "value" | "messages" | "parts" | "tools";

/** JSON within its limit, and the size of the rest. */
export interface Shortened {
  readonly text: string;
  /** Lower bound in bytes. */
  readonly cutBytes: number;
  readonly droppedMessages: number;
}

/** Bytes that a message keeps at least if there are too many messages. */
const MESSAGE_LEAST = 1024;
/** Bytes for each required field of a part of a known type. */
const PART_LEAST = 160;
const TOOL_LEAST = 128;
/** Limit in bytes of each field of a message other than its parts. */
const WORD_MOST = 64;
/** The part of a value that is measured, as a multiple of its limit. */
const COUNTED = 4;
/** `{"role":"…","parts":[]}` */
const EMPTY_MESSAGE = 24;

/**
 * Writes a value as JSON within a limit in bytes of UTF-8. Equal values give equal JSON. Long texts are cut. If
 * there are too many messages, those in the middle are dropped. The first message, the first and the newest
 * question, and the newest messages stay.
 *
 * @param limit from 64. Below that, the result can be an empty value.
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
  // Senders' values are bounded already, so measuring more shows how much is missing.
  node.measure(COUNTED * limit);
  if (shape === "messages") {
    node.takeUpTo(node.count);
    return shortenedMessages(node.entries, node.size, limit);
  }
  const text = writeList(node, limit, shape === "parts" ? PARTS : TOOLS);
  return { text, cutBytes: Math.max(1, knownSize(node) - bytesOf(text)), droppedMessages: 0 };
}

/** The same for messages whose JSON is known. */
export function shortenedTexts(texts: readonly MessageText[], limit: number): Shortened {
  const size = joinedSize(texts);
  if (size <= limit) return { text: joinedTexts(texts), cutBytes: 0, droppedMessages: 0 };
  return shortenedMessages(texts, size, limit);
}

/** Replaces bytes by type and length, and errors by their text. Both can be on spans. */
export const SPAN_FORMS = { binary: "summary", errorText: true } as const;

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

/** @param size of their list, at least. */
function shortenedMessages(messages: readonly JsonNode[], size: number, limit: number): Shortened {
  const chosen = keptMessages(messages, limit);
  const level = levelFor(chosen, limit - 1 - chosen.length);
  const texts = chosen.map((message) => messageWithin(message, level, limit));
  // A longer list is measured only to there.
  const cutBytes = Math.max(1, Math.min(size, COUNTED * limit) - joinedSize(texts));
  return { text: joinedTexts(texts), cutBytes, droppedMessages: messages.length - chosen.length };
}

function messageWithin(message: JsonNode, level: number, limit: number): JsonNode {
  message.measure(level);
  if (message.whole && message.size <= level) return message;
  const room = stepOf(level);
  if (!(message instanceof MessageText)) return new Leaf(writeMessage(message, room));
  return message.within(room, limit, (value) => {
    const node = new ValueReader(SPAN_FORMS, limit, false).node(value, "", undefined);
    node?.measure(COUNTED * limit);
    return node === undefined ? "" : writeMessage(node, room);
  });
}

/**
 * The level to which messages are cut. It changes in steps of a ninth or less, so that a message is cut to the
 * same text in most requests of its conversation.
 */
function stepOf(level: number): number {
  if (level < MESSAGE_LEAST || level === Number.POSITIVE_INFINITY) return level;
  return Math.floor(2 ** (Math.floor(Math.log2(level) * STEPS) / STEPS));
}

/** Steps in which the level doubles. */
const STEPS = 8;

/** Selects the messages that stay: the first, the newest, the questions, and as many before the newest as fit. */
function keptMessages(messages: readonly JsonNode[], limit: number): readonly JsonNode[] {
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
  const inOrder = [...kept].sort((one, other) => one - other);
  return inOrder.map((index) => messages[index]).filter((message) => message !== undefined);
}

function isQuestion(message: JsonNode): boolean {
  if (message instanceof MessageText) return message.message.role === "user";
  return message instanceof FieldsNode && jsonOf(message, "role") === '"user"';
}

function writeMessage(message: JsonNode, room: number): string {
  message.measure(room);
  if (!(message instanceof FieldsNode) || (message.whole && message.size <= room)) {
    return writeWithin(message, room);
  }
  const [role, parts] = [message.find('"role"'), message.find('"parts"')];
  if (role === undefined || !(parts instanceof ListNode)) return writeWithin(message, room);
  const roleJson = writeWithin(role, Math.min(WORD_MOST, room - EMPTY_MESSAGE + 5));
  const head = `{"role":${roleJson},"parts":`;
  let tail = "}";
  for (const name of ['"finish_reason"', '"name"']) {
    const field = message.find(name);
    if (field === undefined) continue;
    const text = `,${name}:${writeWithin(field, WORD_MOST)}`;
    // These two are dropped first, since a message without parts is useless.
    if (bytesOf(head) + bytesOf(text) + bytesOf(tail) + PART_LEAST / 4 > room) continue;
    tail = `${text}${tail}`;
  }
  return `${head}${writeList(parts, room - bytesOf(head) - bytesOf(tail), PARTS)}${tail}`;
}

/** The fields that matter in parts of the conventions. */
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
    ? writeFields(chosenFields(part, PART_FIELDS, false, notedResult), room)
    : writeFirst(part, room, ["type"]);
}

function notedResult(value: JsonNode, name: string): JsonNode {
  return name === '"response"' || name === '"server_tool_call_response"' ? noted(value) : value;
}

/** Levels of a result that may have blobs: itself, a list in it, and the blocks of that list. */
const RESULT_LEVELS = 3;

/** A result whose images, sound and files are notes. */
function noted(node: JsonNode, levels = RESULT_LEVELS): JsonNode {
  const inner = (value: JsonNode) => (levels === 1 ? value : noted(value, levels - 1));
  if (node instanceof ListNode) {
    const read = (index: number) => {
      const part = node.part(index);
      return typeof part === "string" ? part : inner(part);
    };
    return new ListNode(node.origin, node.parent, node.count, read, node.hasBack);
  }
  if (!(node instanceof FieldsNode)) return node;
  if (jsonOf(node, "type") !== '"blob"') return chosenFields(node, [...node.names], true, inner);
  node.measure(PART_LEAST);
  return node.whole && node.size <= PART_LEAST ? node : leftOut(node);
}

/** Replaces a long blob by a note, since cut base64 is invalid. */
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

/** Puts some fields of an object first, so that they are not dropped. */
function writeFirst(node: JsonNode, room: number, first: readonly string[]): string {
  if (!(node instanceof FieldsNode)) return writeWithin(node, room);
  const names = first.map((name) => JSON.stringify(name));
  for (const name of names) node.find(name);
  const rest = node.names.filter((name) => !names.includes(name));
  // The other fields follow in their order.
  return writeFields(chosenFields(node, [...names, ...rest], true), room);
}

/** The JSON of a field, if it is short. */
function jsonOf(fields: FieldsNode, name: string): string | undefined {
  const node = fields.find(JSON.stringify(name));
  return node instanceof Leaf ? node.json : undefined;
}
