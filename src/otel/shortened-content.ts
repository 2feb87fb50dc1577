import { type JsonValue, parseExact } from "../events/exact-json.ts";
import {
  bytesOf,
  chosenFields,
  fieldOf,
  fieldsFirst,
  type ListStyle,
  levelFor,
  type Sized,
  sized,
  writeFields,
  writeList,
  writeWithin,
} from "./shortened-json.ts";

/** What a content attribute holds: it is shortened so that it keeps its form. */
export type ContentShape = "value" | "messages" | "parts" | "tools";

/** JSON within its limit, and how many messages it has not. */
export interface Shortened {
  readonly text: string;
  readonly droppedMessages: number;
}

/** A message that is among too many keeps at least so many bytes, if it has them. */
const MESSAGE_LEAST = 1024;
/** Enough for each field that a part of a known type must have. */
const PART_LEAST = 160;
const TOOL_LEAST = 128;
/** What takes part in a message beside its parts, at most each. */
const WORD_MOST = 64;
/** `{"role":"…","parts":[]}` */
const EMPTY_MESSAGE = 24;

/**
 * Shortens JSON to a limit in bytes (UTF-8). The result is JSON, and the same for the same text. Long
 * texts are cut in their place. Of too many messages those in the middle are dropped: the first, the
 * first and the newest question, and the newest ones stay.
 *
 * @param text JSON; what is within the limit stays as it is.
 * @param limit from 64; below, the result may be an empty value.
 */
export function shortened(text: string, limit: number, shape: ContentShape): Shortened {
  if (bytesOf(text) <= limit) return { text, droppedMessages: 0 };
  let value: JsonValue;
  try {
    value = parseExact(text);
  } catch {
    // Nested too deeply to be taken apart.
    const note = noteIn(shape, `[truncated, ${bytesOf(text)} bytes total]`);
    return { text: bytesOf(note) <= limit ? note : "[]", droppedMessages: 0 };
  }
  const node = sized(value);
  if (node.names !== undefined || !Array.isArray(value)) {
    return { text: writeWithin(node, limit), droppedMessages: 0 };
  }
  switch (shape) {
    case "value":
      return { text: writeWithin(node, limit), droppedMessages: 0 };
    case "messages":
      return writeMessages(node, limit);
    case "parts":
      return { text: writeList(node, limit, PARTS), droppedMessages: 0 };
    case "tools":
      return { text: writeList(node, limit, TOOLS), droppedMessages: 0 };
    default:
      shape satisfies never;
      return { text: writeWithin(node, limit), droppedMessages: 0 };
  }
}

/** A note in place of a value, in the value's form. */
function noteIn(shape: ContentShape, content: string): string {
  const part = { type: "text", content };
  switch (shape) {
    case "value":
      return JSON.stringify(content);
    case "messages":
      return JSON.stringify([{ role: "user", parts: [part], finish_reason: "unknown" }]);
    case "parts":
      return JSON.stringify([part]);
    case "tools":
      return "[]";
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
  write: (tool, room) => writeFields(fieldsFirst(tool, ["type", "name"]), room),
  mark: () => undefined,
};

function writeMessages({ entries }: Sized, limit: number): Shortened {
  const kept = keptMessages(entries, limit);
  const chosen = entries.filter((_, index) => kept.has(index));
  const level = levelFor(chosen, limit - 1 - chosen.length);
  const texts = chosen.map((message) => writeMessage(message, level));
  const droppedMessages = entries.length - chosen.length;
  return { text: `[${texts.join(",")}]`, droppedMessages };
}

/** Which messages stay: the first and the newest, the questions, and as many before the newest as fit. */
function keptMessages(messages: readonly Sized[], limit: number): ReadonlySet<number> {
  const last = messages.length - 1;
  const kept = new Set<number>();
  let left = limit - 1;
  const keep = (index: number, always = false): boolean => {
    if (kept.has(index)) return true;
    const cost = 1 + Math.min(messages[index]?.size ?? 0, MESSAGE_LEAST);
    if (cost > left && !always) return false;
    left -= cost;
    kept.add(index);
    return true;
  };
  keep(last, true);
  if (limit >= 2 * EMPTY_MESSAGE + 3) keep(0, true);
  const questions = messages.flatMap((message, index) => (isQuestion(message) ? [index] : []));
  for (const index of [questions.at(-1), questions[0]]) if (index !== undefined) keep(index);
  for (let index = last - 1; index > 0 && keep(index); ) index -= 1;
  return kept;
}

function isQuestion(message: Sized): boolean {
  return fieldOf(message, '"role"')?.value === "user";
}

function writeMessage(message: Sized, room: number): string {
  if (message.size <= room) return writeWithin(message, room);
  const [role, parts] = [fieldOf(message, '"role"'), fieldOf(message, '"parts"')];
  if (role === undefined || parts === undefined) return writeWithin(message, room);
  const said = writeWithin(role, Math.min(WORD_MOST, room - EMPTY_MESSAGE + 5));
  const head = `{"role":${said},"parts":`;
  let tail = "}";
  for (const name of ['"finish_reason"', '"name"']) {
    const field = fieldOf(message, name);
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
  "type",
  "id",
  "name",
  "modality",
  "mime_type",
  "content",
  "uri",
  "file_id",
  "arguments",
  "response",
  "server_tool_call",
  "server_tool_call_response",
];

const KNOWN_PARTS = new Set<JsonValue | undefined>([
  "text",
  "reasoning",
  "tool_call",
  "tool_call_response",
  "server_tool_call",
  "server_tool_call_response",
  "blob",
  "uri",
  "file",
]);

function writePart(part: Sized, room: number): string {
  if (part.size <= room) return writeWithin(part, room);
  const type = fieldOf(part, '"type"')?.value;
  if (type === "blob") return writeWithin(leftOut(part), room);
  const isKnown = KNOWN_PARTS.has(type);
  return writeFields(isKnown ? chosenFields(part, PART_FIELDS) : fieldsFirst(part, ["type"]), room);
}

/** Base64 that is cut is none: a note stands in place of the whole blob. */
function leftOut(blob: Sized): Sized {
  const mime = fieldOf(blob, '"mime_type"')?.value;
  const what = typeof mime === "string" ? mime : "blob";
  return sized({ type: "text", content: `… [${what}, ${blob.size} bytes left out]` });
}
