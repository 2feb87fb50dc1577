import { nearest } from "./nearest.ts";
import { checkObject, checkOptionsObject } from "./option-checks.ts";

/** Checks the value of an option. @throws TypeError or RangeError that names the option. */
type OptionCheck = (value: unknown, option: string) => void;

/** A check for each option of a type. The compiler refuses a missing and an additional name. */
export type OptionChecks<T> = { readonly [Name in keyof T]-?: OptionCheck };

/**
 * Checks options of a function or class, and warns of unknown ones.
 *
 * @throws TypeError or RangeError for the first invalid option.
 */
export function checkEach<T extends object>(options: T, checks: OptionChecks<T>): void {
  checkOptionsObject(options);
  for (const name in checks) checks[name](options[name], name);
  warnOfUnknown(options, checks);
}

/**
 * The check of an option that is an object with options of its own. Names in errors and warnings have its path:
 * `limits.openRuns`.
 *
 * @param mayBe values that are no such object, for example `false`. Default: none.
 */
export function nested<T extends object>(checks: OptionChecks<T>, ...mayBe: readonly unknown[]) {
  return (value: unknown, option: string): void => {
    if (mayBe.includes(value)) return;
    checkObject(value, option);
    if (typeof value !== "object" || value === null) return;
    for (const name in checks) checks[name](Reflect.get(value, name), `${option}.${name}`);
    warnOfUnknown(value, checks, `${option}.`);
  };
}

/** The check of an option that is checked where it is used. */
export function checkedElsewhere(): void {
  // Only its name is known here.
}

const MOST_WARNINGS = 100;
const MOST_NAME = 100;
const warned = new Set<string>();

/**
 * Warns of own names of an object that are not options: JavaScript ignores them. Once for each name in a process, with
 * the code `ENTELIX_UNKNOWN_OPTION`. Never throws: programs with additional names keep working.
 *
 * @param known has the names of all options.
 * @param path of the object, with a dot at its end. Default: the options themselves.
 */
export function warnOfUnknown(options: object, known: object, path = ""): void {
  try {
    for (const name of Object.keys(options)) {
      if (Object.hasOwn(known, name) || warned.size >= MOST_WARNINGS) continue;
      const meant = nearest(name.slice(0, MOST_NAME), Object.keys(known));
      const hint = meant === undefined ? "it has no effect" : `did you mean \`${path}${meant}\`?`;
      const shown = `${path}${name.slice(0, MOST_NAME)}`;
      const message = `entelix-otel: unknown option \`${shown}\`: ${hint}`;
      if (warned.has(message)) continue;
      warned.add(message);
      process.emitWarning(message, { type: "EntelixWarning", code: "ENTELIX_UNKNOWN_OPTION" });
    }
  } catch {
    // The names cannot be read, so nothing is known of them.
  }
}
