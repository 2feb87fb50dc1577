import { type JsonValue, stringifyExact } from "../events/exact-json.ts";

// JSON that is too long is shortened from within: long texts are cut, then entries of long lists and
// objects are left out. What comes out is JSON again, and the same for the same value.

/** A JSON value with the bytes (UTF-8) that its JSON takes. */
export interface Sized {
  readonly size: number;
  readonly value: JsonValue;
  /** The entries of a list or an object. */
  readonly entries: readonly Sized[];
  /** The names of an object's entries, as JSON. */
  readonly names: readonly string[] | undefined;
}

/** How entries of a list are written. */
export interface ListStyle {
  /** Bytes that an entry gets at least, if it needs them: below, entries are left out. */
  readonly least: number;
  readonly write: (entry: Sized, room: number) => string;
  /** What stands for the entries that were left out, as JSON. */
  readonly mark: (count: number) => string | undefined;
}

/** Bytes that a value in a list or an object gets at least. */
const LEAST = 24;

const ANY_LIST: ListStyle = {
  least: LEAST,
  write: writeWithin,
  mark: (count) => JSON.stringify(`… [${count} items left out]`),
};

/** Measures a value and all that is in it. */
export function sized(value: JsonValue): Sized {
  if (typeof value !== "object" || value === null) {
    return { size: bytesOf(stringifyExact(value)), value, entries: NONE, names: undefined };
  }
  if (isList(value)) {
    const entries = value.map(sized);
    return { size: listSize(entries), value, entries, names: undefined };
  }
  const names = Object.keys(value);
  return sizedFields(
    value,
    names.map((name) => JSON.stringify(name)),
    names.map((name) => sized(value[name] ?? null)),
  );
}

/** Some fields of an object, in another order. */
export function chosenFields(from: Sized, wanted: readonly string[]): Sized {
  const known = new Map(from.names?.map((name, index) => [name, from.entries[index]]));
  const fields: [string, Sized][] = [];
  for (const name of wanted) {
    const entry = known.get(JSON.stringify(name));
    if (entry !== undefined) fields.push([name, entry]);
  }
  return sizedFields(
    Object.fromEntries(fields.map(([name, { value }]) => [name, value])),
    fields.map(([name]) => JSON.stringify(name)),
    fields.map(([, entry]) => entry),
  );
}

/** The same fields, these first. */
export function fieldsFirst(from: Sized, first: readonly string[]): Sized {
  const rest = (from.names ?? []).map((name) => String(JSON.parse(name)));
  return chosenFields(from, [...first, ...rest.filter((name) => !first.includes(name))]);
}

/** @param name as JSON. */
export function fieldOf(from: Sized, name: string): Sized | undefined {
  const index = from.names?.indexOf(name) ?? -1;
  return index < 0 ? undefined : from.entries[index];
}

/** JSON of at most `room` bytes; from 2 bytes on there always is some. */
export function writeWithin(node: Sized, room: number): string {
  const { names, size, value } = node;
  if (size <= room) return stringifyExact(value);
  if (typeof value === "string") return writeText(value, room);
  if (typeof value !== "object") return shortest(room);
  return names === undefined ? writeList(node, room, ANY_LIST) : writeFields(node, room);
}

/** A list of at most `room` bytes: entries are shortened, and of too many some in the middle left out. */
export function writeList({ entries, size, value }: Sized, room: number, style: ListStyle): string {
  if (size <= room) return stringifyExact(value);
  const { least, mark, write } = style;
  const all = levelFor(entries, room - 1 - entries.length);
  if (all >= least || (entries.length === 1 && all > 0)) {
    return `[${entries.map((entry) => write(entry, all)).join(",")}]`;
  }
  const reserved = bytesOf(mark(entries.length) ?? "");
  let left = room - 2 - reserved;
  if (left < 0) return "[]";
  let [front, back] = [0, 0];
  while (front + back < entries.length) {
    const fromFront = front <= back;
    const next = entries[fromFront ? front : entries.length - 1 - back];
    left -= 1 + Math.min(next?.size ?? 0, least);
    if (left < 0) break;
    if (fromFront) front += 1;
    else back += 1;
  }
  const tail = entries.length - back;
  const kept = [...entries.slice(0, front), ...entries.slice(tail)];
  const level = levelFor(kept, room - 2 - reserved - kept.length);
  const texts = kept.map((entry) => write(entry, level));
  const marked = mark(entries.length - kept.length);
  if (marked !== undefined) texts.splice(front, 0, marked);
  return `[${texts.join(",")}]`;
}

/** An object of at most `room` bytes: values are shortened, and of too many fields the last left out. */
export function writeFields({ entries, names = [], size, value }: Sized, room: number): string {
  if (size <= room) return stringifyExact(value);
  const all = levelFor(entries, room - size + valueBytes(entries));
  if (all >= LEAST) return joinFields(names, entries, all);
  const mark = (count: number) => `"…":"${count} fields left out"`;
  const reserved = bytesOf(mark(names.length));
  let left = room - 2 - reserved;
  if (left < 0) return room < 2 ? shortest(room) : "{}";
  const kept: number[] = [];
  entries.forEach((entry, index) => {
    const cost = bytesOf(names[index] ?? "") + 2 + Math.min(entry.size, LEAST);
    if (cost > left) return;
    left -= cost;
    kept.push(index);
  });
  const keptNames = kept.map((index) => names[index] ?? "");
  const keptEntries = kept.map((index) => entries[index] ?? NOTHING);
  const fixed = keptNames.reduce((sum, name) => sum + bytesOf(name) + 2, 2 + reserved);
  const fields = joinFields(keptNames, keptEntries, levelFor(keptEntries, room - fixed));
  const comma = kept.length === 0 ? "" : ",";
  return `${fields.slice(0, -1)}${comma}${mark(names.length - kept.length)}}`;
}

/** A text of at most `room` bytes of JSON, cut between characters, with the bytes that are missing. */
function writeText(text: string, room: number): string {
  const total = bytesOf(text);
  const longest = bytesOf(cutMark(total));
  if (room < longest + 2) return shortest(room);
  const kept = withinEscaped(text, room - 2 - longest);
  return JSON.stringify(kept + cutMark(total - bytesOf(kept)));
}

/** The most bytes that each may have so that all fit: those below it stay whole. */
export function levelFor(entries: readonly Sized[], room: number): number {
  const sizes = entries.map(({ size }) => size).sort((a, b) => a - b);
  let left = room;
  for (let index = 0; index < sizes.length; index += 1) {
    const size = sizes[index] ?? 0;
    const count = sizes.length - index;
    if (size * count > left) return Math.max(0, Math.floor(left / count));
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

export function bytesOf(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

const NONE: readonly Sized[] = [];
const NOTHING: Sized = { size: 4, value: null, entries: NONE, names: undefined };

const cutMark = (bytes: number) => `… [${bytes} bytes cut]`;

function shortest(room: number): string {
  if (room >= 5) return '"…"';
  return room >= 2 ? '""' : "0";
}

function sizedFields(value: JsonValue, names: readonly string[], entries: readonly Sized[]): Sized {
  const size = listSize(entries) + names.reduce((sum, name) => sum + bytesOf(name) + 1, 0);
  return { size, value, entries, names };
}

/** Brackets, commas and entries. */
function listSize(entries: readonly Sized[]): number {
  return valueBytes(entries) + Math.max(entries.length - 1, 0) + 2;
}

function valueBytes(entries: readonly Sized[]): number {
  return entries.reduce((sum, { size }) => sum + size, 0);
}

function joinFields(names: readonly string[], entries: readonly Sized[], level: number): string {
  const fields = names.map((name, index) => {
    return `${name}:${writeWithin(entries[index] ?? NOTHING, level)}`;
  });
  return `{${fields.join(",")}}`;
}

/** The longest beginning of a text that takes at most so many bytes within a JSON text. */
function withinEscaped(text: string, room: number): string {
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
  // A quote, a backslash, and \b \t \n \f \r.
  if (code === 0x22 || code === 0x5c) return 2;
  if (code < 0x20) return (code >= 0x08 && code <= 0x0a) || code === 0x0c || code === 0x0d ? 2 : 6;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  if (code >= 0xd800 && code <= 0xdfff) return 6;
  return code <= 0xffff ? 3 : 4;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
