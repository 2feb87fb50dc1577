import { type JsonValue, wholeJson } from "./exact-json.ts";
import { isWholeNumber } from "./option-checks.ts";

// The forms of JSON values, each declared once: the static type is inferred from the form, and the form
// checks a value, says what is wrong with it, and writes it. Each form is made of closures when its
// module loads, so that nothing of a declaration is interpreted for a value.

/** What is wrong with one field of a value. */
export interface FieldIssue {
  /** Path such as `content[0].source.url`; empty when the value itself is wrong. */
  readonly field: string;
  /** What was expected there; completes "expected …". */
  readonly expected: string;
}

/** A hostile line must not make the list of its faults longer than itself is useful. */
const MAX_ISSUES = 20;

/** An unknown value is quoted up to here, in UTF-16 units. */
const QUOTED_LENGTH = 60;

/** @typeParam T the type of a value that has the form. */
export interface Form<T> {
  /** What is expected of the value itself, without what is inside; completes "expected …". */
  readonly expected: string;
  /** Whether {@link explain} finds nothing. Nearly every value is right, so this allocates nothing. */
  fits(value: unknown): value is T;
  /** Adds what is wrong with the value, and inside it, to the issues: at most 20 in all. */
  explain(value: unknown, path: string, issues: FieldIssue[]): void;
  /** The value as JSON. A value that does not fit is written as it stands. */
  write(value: unknown): string;
  /**
   * Replaces what a newer agent added to a closed set by what the set has for such values, and adds
   * `path=value` to `found`. It returns the same value when there is nothing to replace, and leaves
   * values of wrong types to the check. Absent where the form has no such set inside.
   */
  readonly adapt?: Adapt | undefined;
}

export type Adapt = (value: unknown, found: string[]) => unknown;

/** The type of the values that have a form. */
export type Infer<F> = F extends Form<infer T> ? T : never;

/** The form of a value that has no form inside. */
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

/** A string with something in it. */
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

/** Any JSON value; `null` counts. Values come from a JSON parser, which makes nothing else. */
export const json: Form<JsonValue> = jsonOf("a JSON value (null where it was left out)");

/** Any JSON value, under another description. */
export function jsonOf(expected: string): Form<JsonValue> {
  return value(expected, (given): given is JsonValue => given !== undefined);
}

/** One of some fixed words. */
export function oneOf<const W extends string>(words: readonly W[]): Form<W> {
  const known: ReadonlySet<unknown> = new Set(words);
  const fits = (given: unknown): given is W => known.has(given);
  return value(`one of ${words.join(", ")}`, fits, writeText);
}

/** One of some words; a word that a newer agent added is replaced by `fallback`. */
export function oneOfElse<const W extends string>(words: readonly W[], fallback: W): Form<W> {
  return { ...oneOf(words), adapt: adaptWord(words, fallback) };
}

/** One of some words, or what a newer agent added: any text. Such a word stays as it is. */
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
 * The same form, where all that is wrong with a value is one issue.
 *
 * @param at what to add to the path of the value.
 */
export function asOne<T>(form: Form<T>, expected: string, at = ""): Form<T> {
  const explain: Form<T>["explain"] = (given, path, issues) => {
    if (!form.fits(given)) note(issues, path + at, expected);
  };
  return { ...form, expected, explain };
}

/** A field that may be missing. */
export interface Optional<T> {
  readonly form: Form<T>;
  /** Whether `null` is as good as absent. */
  readonly nullable: boolean;
  /** JSON that is written for an absent value; empty: the field is left out. */
  readonly written: string;
  /** Whether an empty list is written as an absent value. */
  readonly omitEmpty: boolean;
}

/** The field may be missing; `null` is wrong unless the form takes it. */
export function optional<T>(form: Form<T>, written = ""): Optional<T> {
  return { form, nullable: false, written, omitEmpty: false };
}

/** The field may be missing or `null`. */
export function nullish<T>(
  form: Form<T>,
  expected = `${form.expected}, or null`,
): Optional<T | null> {
  const explain: Form<T>["explain"] = (given, path, issues) => {
    // What is wrong inside a value keeps its own words.
    const from = issues.length;
    form.explain(given, path, issues);
    const own = issues[from];
    if (own?.field === path) issues[from] = { field: path, expected };
  };
  return { form: { ...form, expected, explain }, nullable: true, written: "", omitEmpty: false };
}

/** The field may be missing. `null` is taken as missing, and taken out of what is decoded. */
export function withoutNull<T>(form: Form<T>): Optional<T> {
  const adapt: Adapt = (given, found) =>
    given === null ? undefined : form.adapt ? form.adapt(given, found) : given;
  return optional({ ...form, adapt });
}

/** Adds an issue, unless there are enough. */
export function note(issues: FieldIssue[], field: string, expected: string): void {
  if (issues.length < MAX_ISSUES) issues.push({ field, expected });
}

/** The part of an unknown word that is reported. */
export function quoted(word: string): string {
  return word.slice(0, QUOTED_LENGTH);
}

/** The check of a form of which every string is a value. */
export function isText(given: unknown): given is string {
  return typeof given === "string";
}

function writeText(given: unknown): string {
  return typeof given === "string" ? JSON.stringify(given) : wholeJson(given);
}
