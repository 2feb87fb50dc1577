// A value as the parts of its JSON, read only as far as needed. The size of a node is the number of bytes (UTF-8) of
// its JSON. Until a node is measured to its end, its size is a lower bound.

/** A part of a value's JSON. */
export interface JsonNode {
  /** Bytes of its JSON. A lower bound while it is not {@link whole}. */
  readonly size: number;
  /** Whether it was measured to its end. */
  readonly whole: boolean;
  /** Measures until the size is exact or above `upTo`. */
  measure(upTo: number): void;
  /** Its complete JSON. Only for a node that is whole. */
  write(): string;
}

/** JSON without parts, such as a number or a short text. */
export class Leaf implements JsonNode {
  readonly whole = true;
  readonly size: number;
  readonly json: string;

  constructor(json: string, size = bytesOf(json)) {
    this.json = json;
    this.size = size;
  }

  measure(): void {}

  write(): string {
    return this.json;
  }
}

/** A small list or object that the engine has written. Its parts are read only to shorten it. */
export class WrittenNode implements JsonNode {
  readonly whole = true;
  readonly size: number;
  readonly json: string;
  readonly #open: () => JsonNode;

  constructor(json: string, open: () => JsonNode) {
    this.json = json;
    this.size = bytesOf(json);
    this.#open = open;
  }

  measure(): void {}

  write(): string {
    return this.json;
  }

  /** The same, in parts that can be left out. */
  open(): JsonNode {
    return this.#open();
  }
}

/** A text whose bytes are only counted if it may fit. */
export class LongText implements JsonNode {
  readonly text: string;
  whole = false;
  size: number;
  #json = "";

  constructor(text: string) {
    this.text = text;
    this.size = text.length + 2;
  }

  measure(upTo: number): void {
    if (this.whole || this.size > upTo) return;
    this.#json = JSON.stringify(this.text);
    this.size = bytesOf(this.#json);
    this.whole = true;
  }

  write(): string {
    return this.#json === "" ? JSON.stringify(this.text) : this.#json;
  }
}

/** A text that is referenced and not written. It counts as a short one at any length. */
export class HeldText implements JsonNode {
  readonly whole = true;
  readonly text: string;
  readonly size: number;

  constructor(text: string, size: number) {
    this.text = text;
    this.size = size;
  }

  measure(): void {}

  write(): string {
    return JSON.stringify(this.text);
  }
}

/** Bytes as base64. They are encoded only if they fit. Otherwise their type and length replace them. */
export class Base64 implements JsonNode {
  readonly whole = true;
  readonly size: number;
  readonly summary: Leaf;
  readonly #head: string;
  readonly #bytes: Buffer;

  constructor(type: string, bytes: Buffer) {
    this.summary = bytesSummary(type, bytes.length);
    this.#head = `{"type":"${type}","base64":"`;
    this.#bytes = bytes;
    this.size = this.#head.length + 4 * Math.ceil(bytes.length / 3) + 2;
  }

  measure(): void {}

  write(): string {
    return `${this.#head}${this.#bytes.toString("base64")}"}`;
  }
}

/** The type and length of bytes that are left out. */
export function bytesSummary(type: string, length: number): Leaf {
  return new Leaf(`{"type":"${type}","bytes":${length}}`);
}

/** A list or an object. Its entries are read one by one when needed. */
export abstract class Branch implements JsonNode {
  /** The object of this node. */
  readonly origin: object;
  readonly parent: Branch | undefined;
  readonly depth: number;
  /** Most entries, read or not. */
  readonly count: number;
  /** The entries read so far, from the first. */
  readonly entries: JsonNode[] = [];
  size = 2;
  whole = false;
  /** Whether all entries were read. */
  ended = false;
  /** The first entry that is not whole. */
  #open = 0;

  constructor(origin: object, parent: Branch | undefined, count: number) {
    this.origin = origin;
    this.parent = parent;
    this.depth = parent === undefined ? 1 : parent.depth + 1;
    this.count = count;
  }

  abstract write(): string;

  /** Reads the next entry and adds its separators to the size. `undefined` after the last one. */
  protected abstract next(): JsonNode | undefined;

  /** Reads one more entry. @returns whether there was one. */
  take(): boolean {
    const entry = this.ended ? undefined : this.next();
    if (entry === undefined) {
      this.ended = true;
      return false;
    }
    this.size += entry.size + this.around();
    this.entries.push(entry);
    return true;
  }

  /** Bytes of the separators of the next entry. */
  protected around(): number {
    return this.entries.length === 0 ? 0 : 1;
  }

  /** Reads entries until there are `count`, or to the end. */
  takeUpTo(count: number): void {
    while (this.entries.length < count && this.take());
  }

  measure(upTo: number): void {
    while (!this.whole && this.size <= upTo) {
      const entry = this.entries[this.#open];
      if (entry === undefined) {
        if (!this.take()) this.whole = true;
      } else {
        this.grow(entry, upTo - (this.size - entry.size));
        if (!entry.whole) return;
        this.#open += 1;
      }
    }
  }

  /** Reads its entries without keeping them, with the names of an object's fields. Stops if `each` returns `false`. */
  abstract visit(each: (part: ListPart, name: string) => boolean): void;

  /** Measures one of its entries. */
  grow(entry: JsonNode, upTo: number): void {
    const before = entry.size;
    entry.measure(upTo);
    this.size += entry.size - before;
  }
}

/** An entry of a list: a node, or for most entries the JSON of a leaf in one-byte characters. */
export type ListPart = JsonNode | string;

/** A list. */
export class ListNode extends Branch {
  /** Whether entries can be read from the end. */
  readonly hasBack: boolean;
  readonly #read: (index: number, list: ListNode) => ListPart;

  /** @param read returns the entry at an index. Without `hasBack` it is called in order. */
  constructor(
    origin: object,
    parent: Branch | undefined,
    count: number,
    read: (index: number, list: ListNode) => ListPart,
    hasBack = true,
  ) {
    super(origin, parent, count);
    this.#read = read;
    this.hasBack = hasBack;
    // Brackets, and a byte and a comma for each entry. So a list that cannot fit need not be read.
    this.size = Math.max(2, 1 + 2 * count);
  }

  /** The constructor has already counted the separators and one byte of each entry. */
  protected override around(): number {
    return -1;
  }

  protected next(): JsonNode | undefined {
    const index = this.entries.length;
    if (index >= this.count) return undefined;
    const part = this.#read(index, this);
    return typeof part === "string" ? new Leaf(part, part.length) : part;
  }

  visit(each: (part: ListPart, name: string) => boolean): void {
    for (let index = 0; index < this.count && each(this.part(index), ""); ) index += 1;
  }

  /** The entry at an index. An entry that was not read before is read each time. */
  part(index: number): ListPart {
    return this.entries[index] ?? this.#read(index, this);
  }

  write(): string {
    let text = "[";
    for (const entry of this.entries) text += text === "[" ? entry.write() : `,${entry.write()}`;
    return `${text}]`;
  }
}

/** Most fields that are read to find one by its name. */
const MOST_SEARCHED = 64;

/** A field of an object: its name as JSON, and its value. */
export interface FieldNode {
  readonly name: string;
  readonly value: JsonNode;
}

/** An object. */
export class FieldsNode extends Branch {
  /** The names of the entries, as JSON. */
  readonly names: string[] = [];
  readonly #read: (fields: FieldsNode) => FieldNode | undefined;

  /** @param read returns the next field that has JSON. */
  constructor(
    origin: object,
    parent: Branch | undefined,
    count: number,
    read: (fields: FieldsNode) => FieldNode | undefined,
  ) {
    super(origin, parent, count);
    this.#read = read;
  }

  protected next(): JsonNode | undefined {
    const field = this.#read(this);
    if (field === undefined) return undefined;
    this.names.push(field.name);
    this.size += bytesOf(field.name) + 1;
    return field.value;
  }

  visit(each: (part: ListPart, name: string) => boolean): void {
    for (let field = this.#read(this); field !== undefined; field = this.#read(this)) {
      if (!each(field.value, field.name)) return;
    }
  }

  /** A field among the first {@link MOST_SEARCHED}. @param name as JSON. */
  find(name: string): JsonNode | undefined {
    let index = this.names.indexOf(name);
    while (index < 0 && this.entries.length < MOST_SEARCHED && this.take()) {
      if (this.names.at(-1) === name) index = this.names.length - 1;
    }
    return index < 0 ? undefined : this.entries[index];
  }

  write(): string {
    let text = "{";
    for (let index = 0; index < this.entries.length; index += 1) {
      const field = `${this.names[index]}:${this.entries[index]?.write()}`;
      text += index === 0 ? field : `,${field}`;
    }
    return `${text}}`;
  }
}

/** Bytes of a node's JSON, as far as they are known: a lower bound. */
export function knownSize(node: JsonNode): number {
  if (!(node instanceof Branch)) return node.size;
  let size = node.size;
  for (const entry of node.entries) size += knownSize(entry) - entry.size;
  // A field that was not read has a name, a colon, a value and a comma.
  return node instanceof FieldsNode && !node.ended
    ? size + 5 * (node.count - node.entries.length)
    : size;
}

/** Whether a text has only one-byte characters that JSON does not escape. */
export function isPlainText(text: string): boolean {
  return PLAIN.test(text);
}

const PLAIN = /^[ !#-[\]-~]*$/;

/** A longer text goes to the engine's writer at once. */
const SHORT_TEXT = 64;

/** The text as JSON. Most texts are short and plain, and need no call of the engine's writer. */
export function textJson(text: string): string {
  return text.length <= SHORT_TEXT && isPlainText(text) ? `"${text}"` : JSON.stringify(text);
}

export function bytesOf(text: string): number {
  return Buffer.byteLength(text, "utf8");
}
