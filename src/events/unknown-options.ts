import { nearest } from "./nearest.ts";
import { type NoticeHook, notice } from "./notices.ts";
import { checkArgument, checkObject } from "./option-checks.ts";
import { meantBy } from "./option-places.ts";
import { isAdded, ownCopy } from "./polluted-prototype.ts";

/**
 * Checks the value of an option. @throws TypeError or RangeError that names the option.
 *
 * @param hook the application's `onError`, for notices of unknown names inside the option.
 * @returns the object to use, if it is not the given one.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most checks return nothing, and a boolean would become the value.
type OptionCheck = (value: unknown, option: string, hook?: NoticeHook) => object | void;

/** A check for each option of a type. The compiler refuses a missing and an additional name. */
export type OptionChecks<T> = { readonly [Name in keyof T]-?: OptionCheck };

/**
 * Checks options of a function or class, and reports unknown ones: to the option `onError`, else as a warning.
 *
 * @returns the options to use, which have nothing of `Object.prototype`.
 * @throws TypeError or RangeError for the first invalid option. It names an unknown option that may have meant it.
 */
export function checkEach<T extends object>(options: T, checks: OptionChecks<T>): T {
  checkArgument(options, "options");
  return checkFields(options, checks, "", undefined);
}

/**
 * The check of an option that is an object with options of its own. Names in errors and warnings have its path:
 * `limits.openRuns`.
 *
 * @param mayBe values that are no such object, for example `false`. Default: none.
 */
export function nested<T extends object>(checks: OptionChecks<T>, ...mayBe: readonly unknown[]) {
  return (value: unknown, option: string, hook?: NoticeHook): object | undefined => {
    if (mayBe.includes(value)) return undefined;
    checkObject(value, option);
    if (typeof value !== "object" || value === null) return undefined;
    return checkFields<object>(value, checks, `${option}.`, hook);
  };
}

/** @param path of the object, with a dot at its end. Empty for the options themselves, whose `onError` is the hook. */
function checkFields<T extends object>(
  given: T,
  checks: OptionChecks<T>,
  path: string,
  hookAround: NoticeHook | undefined,
): T {
  const names = namesOf(checks);
  // Usually nothing is added, and nothing is copied.
  let own = names.some(isAdded) ? ownCopy(given) : given;
  const hook = path === "" ? hookIn(own) : hookAround;
  const hints = reportUnknown(own, checks, path, hook);
  for (const name of names) {
    try {
      const used = checks[name](own[name], path + name, hook);
      if (used === undefined || used === own[name]) continue;
      if (own === given) own = ownCopy(given);
      Reflect.set(own, name, used);
    } catch (error) {
      throw withHint(error, hints.get(name));
    }
  }
  return own;
}

/** Not `for … in`, which would also see what other code added to `Object.prototype`. */
function namesOf<T>(checks: OptionChecks<T>): readonly (keyof T & string)[] {
  const names: (keyof T & string)[] = [];
  for (const name in checks) if (Object.hasOwn(checks, name)) names.push(name);
  return names;
}

/** The check of an option that is checked where it is used. */
export function checkedElsewhere(): void {
  // Only its name is known here.
}

/** The application's `onError`, if it is usable. */
function hookIn(options: object): NoticeHook | undefined {
  const hook: unknown = Reflect.get(options, "onError");
  return isHook(hook) ? hook : undefined;
}

function isHook(value: unknown): value is NoticeHook {
  return typeof value === "function";
}

/** Adds the hint to an error of a check. */
function withHint(error: unknown, hint: string | undefined): unknown {
  if (hint === undefined || !(error instanceof Error)) return error;
  const text = `${error.message}; ${hint}`;
  return error instanceof RangeError ? new RangeError(text) : new TypeError(text);
}

const MOST_NAME = 100;

/**
 * Reports own names of an object that are not options: JavaScript ignores them. Once for each name, with the code
 * `ENTELIX_UNKNOWN_OPTION`. Never throws: programs with additional names keep working.
 *
 * @param known has the names of all options.
 * @param path of the object, with a dot at its end. Default: the options themselves.
 * @returns the text for each option that may have been meant.
 */
export function reportUnknown(
  options: object,
  known: object,
  path = "",
  hook?: NoticeHook,
): ReadonlyMap<string, string> {
  const hints = new Map<string, string>();
  try {
    for (const name of Object.keys(options)) {
      if (Object.hasOwn(known, name)) continue;
      const names = Object.keys(known);
      const cut = name.slice(0, MOST_NAME);
      const meant = (path === "" ? meantBy(cut, names) : undefined) ?? similarTo(cut, names, path);
      const text = `unknown option \`${path}${cut}\`: ${meant?.text ?? "it has no effect"}`;
      if (meant !== undefined && names.includes(meant.option)) hints.set(meant.option, text);
      notice("ENTELIX_UNKNOWN_OPTION", text, "options", hook);
    }
  } catch {
    // The names cannot be read, so nothing is known of them.
  }
  return hints;
}

/** The option with the nearest name. */
function similarTo(name: string, known: readonly string[], path: string) {
  const option = nearest(name, known);
  return option === undefined ? undefined : { option, text: `did you mean \`${path}${option}\`?` };
}
