import type { JsonValue } from "./exact-json.ts";

/** Deepest nesting of a JSON text. entelix's reader stops at 128. */
export const MAX_JSON_DEPTH = 1_000;

/** Most digits of an integer. The time to convert one grows faster than its digits. */
const MAX_INTEGER_DIGITS = 10_000;

/** A text that is not valid JSON, with the position and the expected syntax. It quotes no content. */
export class JsonSyntaxError extends SyntaxError {
  override readonly name = "JsonSyntaxError";
  /** Index of the offending character in the text, from 0, in UTF-16 units. */
  readonly position: number;
  /** The expected syntax, for example `a value`. */
  readonly expected: string;

  constructor(expected: string, position: number) {
    super(`expected ${expected} at position ${position}`);
    this.expected = expected;
    this.position = position;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * A parser of JSON texts that keeps big integers and reports what it expected, and where.
 *
 * It is several times slower than `JSON.parse`, so it is only for texts with which that loses digits or fails.
 */
export class JsonTextParser {
  readonly #text: string;
  readonly #repeats: boolean;
  #at = 0;
  #depth = 0;

  /**
   * @param options.repeats whether an object may have a name twice. Then the last one counts, as in `JSON.parse`.
   *   Default `true`. If not, the error quotes the name.
   */
  constructor(text: string, { repeats = true }: { readonly repeats?: boolean } = {}) {
    this.#text = text;
    this.#repeats = repeats;
  }

  /** Parses the complete text. @throws JsonSyntaxError if it is not a JSON value. */
  parse(): JsonValue {
    const value = this.#value("a value");
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail("the end of the text");
    return value;
  }

  #value(expected: string): JsonValue {
    this.#skipSpace();
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object();
      case "[":
        return this.#array();
      case '"':
        return this.#string();
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        return this.#number(expected);
    }
  }

  #object(): JsonValue {
    this.#enter();
    const object: Record<string, JsonValue> = {};
    if (!this.#take("}")) {
      let expected = "a property name or '}'";
      do {
        this.#skipSpace();
        if (this.#text[this.#at] !== '"') this.#fail(expected);
        const start = this.#at;
        const key = this.#string();
        if (!this.#repeats && Object.hasOwn(object, key)) {
          this.#fail(`no second ${JSON.stringify(key)} in this object`, start);
        }
        if (!this.#take(":")) this.#fail("':'");
        setOwn(object, key, this.#value("a value"));
        expected = "a property name";
      } while (this.#take(","));
      if (!this.#take("}")) this.#fail("',' or '}'");
    }
    this.#depth -= 1;
    return object;
  }

  #array(): JsonValue {
    this.#enter();
    const array: JsonValue[] = [];
    if (!this.#take("]")) {
      let expected = "a value or ']'";
      do {
        array.push(this.#value(expected));
        expected = "a value";
      } while (this.#take(","));
      if (!this.#take("]")) this.#fail("',' or ']'");
    }
    this.#depth -= 1;
    return array;
  }

  #enter(): void {
    this.#depth += 1;
    if (this.#depth > MAX_JSON_DEPTH) this.#fail(`at most ${MAX_JSON_DEPTH} levels of nesting`);
    this.#at += 1;
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at;
    let at = start + 1;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === 0x22) break;
      if (code === 0x5c) {
        ESCAPE.lastIndex = at;
        if (!ESCAPE.test(text)) this.#fail("a valid escape sequence", at);
        at = ESCAPE.lastIndex;
      } else if (code >= 0x20) {
        at += 1;
      } else {
        this.#fail(at < text.length ? "no control character in a string" : "'\"'", at);
      }
    }
    this.#at = at + 1;
    // Decoding makes a copy, even without escapes. A slice would keep the complete text in memory.
    const decoded: string = JSON.parse(text.slice(start, at + 1));
    return decoded;
  }

  #word<T extends boolean | null>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#fail(`'${word}'`);
    this.#at += word.length;
    return value;
  }

  #number(expected: string): JsonValue {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) {
      const sign = this.#text[this.#at] === "-";
      this.#fail(sign ? "a digit" : expected, sign ? this.#at + 1 : this.#at);
    }
    const [token, fraction, exponent] = match;
    const number = Number(token);
    if (fraction === undefined && exponent === undefined && !Number.isSafeInteger(number)) {
      if (token.length > MAX_INTEGER_DIGITS) {
        this.#fail(`an integer of at most ${MAX_INTEGER_DIGITS} digits`);
      }
      this.#at = NUMBER.lastIndex;
      return BigInt(token);
    }
    this.#at = NUMBER.lastIndex;
    return number;
  }

  #take(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    const text = this.#text;
    for (;;) {
      const code = text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at += 1;
    }
  }

  #fail(expected: string, position = this.#at): never {
    throw new JsonSyntaxError(expected, position);
  }
}

function setOwn(object: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  } else {
    object[key] = value;
  }
}
