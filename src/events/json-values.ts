import { types } from "node:util";
import { namesOf } from "./field-names.ts";
import { bytesNode, writtenBytes } from "./json-bytes.ts";
import {
  type Branch,
  FieldsNode,
  HeldText,
  isPlainText,
  type JsonNode,
  Leaf,
  ListNode,
  type ListPart,
  LongText,
  textJson,
  WrittenNode,
} from "./json-nodes.ts";
import { freeName, integerText, keyText } from "./map-keys.ts";
import { MOST_LEVELS, plainJson } from "./plain-json.ts";

/** The forms of values that JSON does not know. */
export interface ValueForms {
  /** Form of typed arrays, `DataView` and buffers: base64, or type and length. */
  readonly binary: "base64" | "summary";
  /**
   * Whether an `Error` is written with its message and its own fields. They are operator text, so they must not be in
   * an audit row. Default `false`: only its name.
   */
  readonly errorText?: boolean | undefined;
  /** Whether texts are referenced and not written, so that a long one counts as a short one. Default `false`. */
  readonly holdsTexts?: boolean | undefined;
}

/** Most fields without JSON that are skipped, plus a fourth of the bytes that may be written. */
const MOST_PASSED = 1_000;

/**
 * Most lists and objects that are read, plus one for each 4 bytes that may be written. Without this bound the reader
 * would read more than it writes from a tree of many levels, and getters may return new objects without end.
 */
const MOST_BRANCHES = 10_000;

/** The same below this many levels, plus one for each 512 bytes: each step into them passes all levels. */
const DEEP = 100;
const MOST_DEEP = 2_000;

/** A longer text is only counted if it may fit. */
const SHORT = 48;

/** From here the number of nodes matters more than the time to the first one. */
const MANY_BYTES = 64 * 1024;

/** A text in a list that is never cut is shorter than the least bytes of an entry. */
const SHORT_PART = 22;

/** Most bytes of an entry that the engine writes. */
const MOST_WRITTEN = 256;

/** The reader stops these attempts after this many more failures than successes. In a tree of many levels most fail. */
const MOST_MISSES = 256;

/** An array with more entries may be mostly holes. */
const SPARSE_LENGTH = 1_024;
const PROBES = 64;
const FILLED_PROBES = 8;

/** Reads a value into nodes, in the form of its JSON: it calls `toJSON`, and leaves out values without JSON. */
export class ValueReader {
  readonly forms: ValueForms;
  readonly bytes: number;
  /** Whether fields were left out because too many fields before them have no JSON. */
  passedOver = false;
  #passes: number;
  /** Lists and objects that may still be read. */
  #branches: number;
  #deepBranches: number;
  readonly #joins: boolean;
  /** Values that the engine wrote, and failed attempts. */
  #hits = 0;
  #misses = 0;

  /**
   * @param bytes most bytes of the result. A longer name cannot be written.
   * @param joins whether a small list or object inside a list may be one node. Default `true`.
   */
  constructor(forms: ValueForms, bytes: number, joins = true) {
    this.#joins = joins;
    this.forms = forms;
    this.bytes = bytes;
    this.#passes = MOST_PASSED + bytes / 4;
    this.#branches = MOST_BRANCHES + bytes / 4;
    this.#deepBranches = MOST_DEEP + bytes / 512;
  }

  /**
   * The value as a node. `undefined` for values without JSON: `undefined`, functions and symbols. A value that cannot
   * be read becomes a text with the reason. Never throws.
   */
  node(given: unknown, key: string | number, parent: Branch | undefined): JsonNode | undefined {
    switch (typeof given) {
      case "string":
        return this.forms.holdsTexts === true && given.length > SHORT
          ? new HeldText(given, SHORT)
          : textNode(given);
      case "number":
        return numberNode(given);
      case "boolean":
        return given ? TRUE : FALSE;
      case "bigint":
        return integerNode(given);
      case "object":
      case "function":
        try {
          return given === null ? NULL : this.#objectNode(given, key, parent);
        } catch {
          return THREW;
        }
      default:
        return undefined;
    }
  }

  #objectNode(
    given: object,
    key: string | number,
    parent: Branch | undefined,
  ): JsonNode | undefined {
    if (isUsual(given)) {
      if (Array.isArray(given)) return this.#unreadable(given, parent) ?? this.#list(given, parent);
      const written = writtenBytes(given, this.forms.binary, this.bytes);
      return (
        written ?? this.#unreadable(given, parent) ?? this.#fields(given, namesOf(given), parent)
      );
    }
    const bytes = bytesNode(given, this.forms.binary, this.bytes);
    if (bytes !== undefined) return bytes;
    if (types.isNativeError(given) || given instanceof Error) {
      return this.#unreadable(given, parent) ?? this.#error(given, parent);
    }
    const toJson: unknown = "toJSON" in given ? given.toJSON : undefined;
    if (typeof toJson !== "function") {
      return typeof given === "function" ? undefined : this.#plainNode(given, key, parent);
    }
    const json: unknown = Reflect.apply(toJson, given, [String(key)]);
    if (typeof json === "function") return undefined;
    if (typeof json !== "object" || json === null) return this.node(json, key, parent);
    const bytesOfIt = bytesNode(json, this.forms.binary, this.bytes);
    return bytesOfIt ?? this.#plainNode(json, key, parent);
  }

  /** The text that replaces a value that cannot be nested here. */
  #unreadable(value: object, parent: Branch | undefined): JsonNode | undefined {
    if (parent === undefined) return undefined;
    if (parent.depth >= MOST_LEVELS) return TOO_DEEP;
    for (let above: Branch | undefined = parent; above !== undefined; above = above.parent) {
      if (above.origin === value) return CYCLE;
    }
    if (parent.depth > DEEP) this.#deepBranches -= 1;
    this.#branches -= 1;
    if (this.#branches < 0 || this.#deepBranches < 0) return TOO_MANY;
    return undefined;
  }

  #plainNode(
    value: object,
    key: string | number,
    parent: Branch | undefined,
  ): JsonNode | undefined {
    if (types.isBoxedPrimitive(value) && !types.isSymbolObject(value)) {
      if (types.isNumberObject(value)) return numberNode(Number(value));
      if (types.isStringObject(value)) return this.node(String(value), key, parent);
      return this.node(value.valueOf(), key, parent);
    }
    return this.#unreadable(value, parent) ?? this.#branch(value, parent);
  }

  #branch(value: object, parent: Branch | undefined): Branch {
    if (Array.isArray(value)) return this.#list(value, parent);
    if (types.isMap(value)) return this.#map(value, parent);
    if (types.isSet(value)) return this.#set(value, parent);
    return this.#fields(value, namesOf(value), parent);
  }

  #list(list: readonly unknown[], parent: Branch | undefined): Branch {
    if (isSparse(list)) return this.#fields(list, Object.keys(list).filter(isIndex), parent);
    return new ListNode(list, parent, list.length, (index, node) => this.#entry(list, index, node));
  }

  #entry(list: readonly unknown[], index: number, node: ListNode): ListPart {
    try {
      return this.#part(list[index], index, node);
    } catch {
      return THREW;
    }
  }

  #part(value: unknown, index: number, list: ListNode): ListPart {
    switch (typeof value) {
      case "number":
        return Number.isFinite(value) ? String(value) : "null";
      case "string":
        return value.length < SHORT_PART && isPlainText(value)
          ? `"${value}"`
          : (this.node(value, index, list) ?? NULL);
      default:
        return this.#written(value, index, list) ?? this.node(value, index, list) ?? NULL;
    }
  }

  /** An entry that is small and plain, as written by the engine. Most entries of long lists are. */
  #written(value: unknown, key: string | number, parent: Branch): JsonNode | undefined {
    if (typeof value !== "object" || value === null || !this.#joins) return undefined;
    if (this.#misses > MOST_MISSES + this.#hits) return undefined;
    const json = plainJson(value, MOST_WRITTEN);
    if (json === undefined) {
      this.#misses += 1;
      return undefined;
    }
    this.#hits += 1;
    return new WrittenNode(json, () => this.node(value, key, parent) ?? NULL);
  }

  /** If much may be written, the engine writes small objects inside objects, too. */
  #valueNode(value: unknown, key: string, node: FieldsNode): JsonNode | undefined {
    const written = this.bytes > MANY_BYTES ? this.#written(value, key, node) : undefined;
    return written ?? this.node(value, key, node);
  }

  /** @param read returns the value of a field. */
  #fields(
    object: object,
    keys: readonly string[],
    parent: Branch | undefined,
    read = (key: string): unknown => Reflect.get(object, key),
  ): FieldsNode {
    const isProxy = types.isProxy(object);
    let at = 0;
    return new FieldsNode(object, parent, keys.length, (node) => {
      while (at < keys.length) {
        if (this.#passes <= 0) {
          const left = keys.length - at;
          at = keys.length;
          this.passedOver = true;
          return { name: '"…"', value: new Leaf(`"${left} fields left out"`) };
        }
        const key = keys[at] ?? "";
        at += 1;
        let value: JsonNode | undefined;
        try {
          if (!isProxy || isEnumerable(object, key)) value = this.#valueNode(read(key), key, node);
        } catch {
          value = THREW;
        }
        if (value !== undefined) return { name: this.#name(key), value };
        this.#passes -= 1;
      }
      return undefined;
    });
  }

  /** A name that is too long is not encoded, because it is never written. */
  #name(key: string): string {
    return key.length > this.bytes ? key : textJson(key);
  }

  /** An object. */
  #map(map: ReadonlyMap<unknown, unknown>, parent: Branch | undefined): FieldsNode {
    const each = mapEntries.call(map);
    const used = new Map<string, number>();
    return new FieldsNode(map, parent, sizeOfMap.call(map), (node) => {
      const next = each.next();
      if (next.done === true) return undefined;
      const [given, inner] = next.value;
      const key = freeName(keyText(given), used);
      return { name: this.#name(key), value: this.node(inner, key, node) ?? NULL };
    });
  }

  /** A list. */
  #set(set: ReadonlySet<unknown>, parent: Branch | undefined): ListNode {
    const each = setValues.call(set);
    const read = (index: number, node: ListNode) => this.#part(each.next().value, index, node);
    return new ListNode(set, parent, sizeOfSet.call(set), read, false);
  }

  #error(error: Error, parent: Branch | undefined): FieldsNode {
    const keys = ["name"];
    if (this.forms.errorText === true) {
      const own = Object.keys(error).filter((key) => key !== "name" && key !== "message");
      keys.push("message");
      for (const key of own) keys.push(key);
    }
    return this.#fields(error, keys, parent, (key) => {
      return key === "name" ? errorName(error.name) : Reflect.get(error, key);
    });
  }
}

const mapEntries = Map.prototype.entries;
const setValues = Set.prototype.values;
const sizeOfMap = sizeGetter(Map.prototype);
const sizeOfSet = sizeGetter(Set.prototype);

/** The engine's own `size`, which a subclass cannot change. */
function sizeGetter(prototype: object): (this: object) => number {
  const get: ((this: object) => unknown) | undefined = Object.getOwnPropertyDescriptor(
    prototype,
    "size",
  )?.get;
  return function () {
    return Number(get?.call(this));
  };
}

const NULL = new Leaf("null");
const TRUE = new Leaf("true");
const FALSE = new Leaf("false");
const THREW = reason("a getter or toJSON threw");
const CYCLE = reason("it contains itself");
const TOO_DEEP = reason("nested too deeply");
const TOO_MANY = reason("too many lists and objects");
const TOO_LARGE = reason("an integer of more than 10000 digits");

function reason(why: string): Leaf {
  return new Leaf(JSON.stringify(unserializable(why)));
}

/** The text that replaces a value without JSON. It quotes nothing of the value. */
export function unserializable(why: string): string {
  return `[unserializable: ${why}]`;
}

function numberNode(given: number): JsonNode {
  if (!Number.isFinite(given)) return NULL;
  const json = String(given);
  return new Leaf(json, json.length);
}

function integerNode(given: bigint): JsonNode {
  const json = integerText(given);
  return json === undefined ? TOO_LARGE : new Leaf(json, json.length);
}

function textNode(text: string): JsonNode {
  if (text.length > SHORT) return new LongText(text);
  // Most texts are plain. Then their JSON and its size cost nothing.
  return isPlainText(text)
    ? new Leaf(`"${text}"`, text.length + 2)
    : new Leaf(JSON.stringify(text));
}

/** Whether it is an ordinary object or array. Nearly every one is. */
function isUsual(value: object): boolean {
  if (types.isProxy(value) || "toJSON" in value) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || (prototype === Array.prototype && Array.isArray(value));
}

/** Whether a long array is mostly holes. It is written as an object of its entries. */
function isSparse(list: readonly unknown[]): boolean {
  if (list.length <= SPARSE_LENGTH) return false;
  const step = Math.floor(list.length / PROBES);
  let filled = 0;
  for (let probe = 0; probe < PROBES; probe += 1) {
    if (probe * step in list) filled += 1;
    if (filled === FILLED_PROBES) return false;
  }
  return true;
}

function isIndex(key: string): boolean {
  const code = key.charCodeAt(0);
  return code >= 0x30 && code <= 0x39;
}

function isEnumerable(object: object, key: string): boolean {
  return Reflect.getOwnPropertyDescriptor(object, key)?.enumerable === true;
}

/** Only an identifier: any other name of an error may contain its message. */
function errorName(name: unknown): string {
  return typeof name === "string" && /^[A-Za-z_$][\w$]{0,63}$/.test(name) ? name : "Error";
}
