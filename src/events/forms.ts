import { type JsonValue, wholeJson } from "./exact-json.ts";
import { textJson } from "./json-nodes.ts";
import { isWholeNumber } from "./option-checks.ts";

// Declarations of JSON values. Each form is declared once: the static type is inferred from it, and it checks a
// value, lists its issues, and writes it. A form is made of closures when its module loads, so no declaration is
// interpreted for each value.

/** An invalid field of a value. */
export interface FieldIssue {
  /** Path such as `content[0].source.url`. Empty if the value itself is invalid. */
  readonly field: string;
  /** The expected value. It completes "expected …". */
  readonly expected: string;
}

/** Bounds the list of issues of a hostile line. */
const MAX_ISSUES = 20;

/** Most UTF-16 units of an unknown value that are quoted. */
const QUOTED_LENGTH = 60;

/** @typeParam T the type of a value that has the form. */
export interface Form<T> {
  /** Description of the value itself, without its parts. It completes "expected …". */
  readonly expected: string;
  /** Whether {@link explain} finds no issue. Nearly every value is valid, so this allocates nothing. */
  fits(value: unknown): value is T;
  /** Adds the issues of the value and its parts, at most 20 in all. */
  explain(value: unknown, path: string, issues: FieldIssue[]): void;
  /** The value as JSON. A value of another form is written unchanged. */
  write(value: unknown): string;
  /**
   * Replaces values that a newer agent added to a closed set by the set's fallback, and adds `path=value` to `found`.
   * Returns the same value if there is nothing to replace. Ignores values of wrong types, which the check finds.
   * Absent if the form contains no such set.
   */
  readonly adapt?: Adapt | undefined;
}

export type Adapt = (value: unknown, found: string[]) => unknown;

/** The type of the values that have a form. */
export type Infer<F> = F extends Form<infer T> ? T : never;

/** The form of a value without parts. */
export function value<T>(
  expected: string,
  fits: (value: unknown) => value is T,
  write: (value: unknown) => string = wholeJson,
): Form<T> {
  return {
    expected,
    fits,
    write,
    explain(given, path, issues) {
      if (!fits(given)) note(issues, path, expected);
    },
  };
}

/** A string. */
export const text: Form<string> = textWhere("text");

/** A non-empty string. */
export const name: Form<string> = textWhere("non-empty text", (given) => given !== "");

/** A string that passes a test. Default: every string. */
export function textWhere(expected: string, test?: (given: string) => boolean): Form<string> {
  if (test === undefined) return value(expected, isText, writeText);
  const fits = (given: unknown): given is string => typeof given === "string" && test(given);
  return value(expected, fits, writeText);
}

export const flag: Form<boolean> = value("true or false", (given) => typeof given === "boolean");

/** A whole number from 0, of any size: `bigint` beyond 2^53. */
export const count: Form<number | bigint> = value("a whole number from 0", isWholeNumber);

/** Any JSON value, including `null`. Values come from a JSON parser, which makes no other values. */
export const json: Form<JsonValue> = jsonOf("a JSON value (null where it was left out)");

/** Any JSON value, with another description. */
export function jsonOf(expected: string): Form<JsonValue> {
  return value(expected, (given): given is JsonValue => given !== undefined);
}

/** One of a fixed set of words. */
export function oneOf<const W extends string>(words: readonly W[]): Form<W> {
  const known: ReadonlySet<unknown> = new Set(words);
  const fits = (given: unknown): given is W => known.has(given);
  return value(`one of ${words.join(", ")}`, fits, writeText);
}

/** One of a set of words. A word that a newer agent added is replaced by `fallback`. */
export function oneOfElse<const W extends string>(words: readonly W[], fallback: W): Form<W> {
  return { ...oneOf(words), adapt: adaptWord(words, fallback) };
}

/** One of a set of words, or any text that a newer agent added. Such a text stays unchanged. */
export function openWord<const W extends string>(words: readonly W[]): Form<W | (string & {})> {
  return { ...text, adapt: adaptWord(words, undefined) };
}

function adaptWord(words: readonly string[], fallback: string | undefined): Adapt {
  const known: ReadonlySet<string> = new Set(words);
  return (given, found) => {
    if (typeof given !== "string" || known.has(given)) return given;
    found.push(`=${quoted(given)}`);
    return fallback ?? given;
  };
}

/** A list of values of one form. */
export function list<T>(of: Form<T>, expected = "a list"): Form<readonly T[]> {
  const { adapt } = of;
  return {
    expected,
    fits(given): given is readonly T[] {
      if (!Array.isArray(given)) return false;
      for (const each of given) if (!of.fits(each)) return false;
      return true;
    },
    explain(given, path, issues) {
      if (!Array.isArray(given)) return note(issues, path, expected);
      for (const [index, each] of given.entries()) {
        if (issues.length >= MAX_ISSUES) return;
        of.explain(each, `${path}[${index}]`, issues);
      }
    },
    write(given) {
      if (!Array.isArray(given)) return wholeJson(given);
      return `[${given.map((each: unknown) => of.write(each)).join(",")}]`;
    },
    adapt: adapt && ((given, found) => adaptAll(adapt, given, found)),
  };
}

function adaptAll(adapt: Adapt, given: unknown, found: string[]): unknown {
  if (!Array.isArray(given)) return given;
  const adapted = given.map((each: unknown) => adapt(each, found));
  return adapted.some((each, index) => each !== given[index]) ? adapted : given;
}

/**
 * The same form, but all issues of a value become one.
 *
 * @param at appended to the path of the value.
 */
export function asOne<T>(form: Form<T>, expected: string, at = ""): Form<T> {
  const explain: Form<T>["explain"] = (given, path, issues) => {
    if (!form.fits(given)) note(issues, path + at, expected);
  };
  return { ...form, expected, explain };
}

/** An optional field. */
export interface Optional<T> {
  readonly form: Form<T>;
  /** Whether `null` counts as absent. */
  readonly nullable: boolean;
  /** JSON for an absent value. Empty: the field is left out. */
  readonly written: string;
  /** Whether an empty list is written as an absent value. */
  readonly omitEmpty: boolean;
}

/** The field may be missing. `null` is invalid, unless the form allows it. */
export function optional<T>(form: Form<T>, written = ""): Optional<T> {
  return { form, nullable: false, written, omitEmpty: false };
}

/** The field may be missing or `null`. */
export function nullish<T>(
  form: Form<T>,
  expected = `${form.expected}, or null`,
): Optional<T | null> {
  const explain: Form<T>["explain"] = (given, path, issues) => {
    // Issues inside a value keep their own description.
    const from = issues.length;
    form.explain(given, path, issues);
    const own = issues[from];
    if (own?.field === path) issues[from] = { field: path, expected };
  };
  return { form: { ...form, expected, explain }, nullable: true, written: "", omitEmpty: false };
}

/** The field may be missing. `null` counts as missing and is removed when decoded. */
export function withoutNull<T>(form: Form<T>): Optional<T> {
  const adapt: Adapt = (given, found) =>
    given === null ? undefined : form.adapt ? form.adapt(given, found) : given;
  return optional({ ...form, adapt });
}

/** Adds an issue, up to the limit. */
export function note(issues: FieldIssue[], field: string, expected: string): void {
  if (issues.length < MAX_ISSUES) issues.push({ field, expected });
}

/** The part of an unknown word that is reported. */
export function quoted(word: string): string {
  return word.slice(0, QUOTED_LENGTH);
}

/** The check of a form that accepts every string. */
export function isText(given: unknown): given is string {
  return typeof given === "string";
}

export function writeText(given: unknown): string {
  return typeof given === "string" ? textJson(given) : wholeJson(given);
}
