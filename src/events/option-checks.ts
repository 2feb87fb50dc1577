// Untyped programs may give any value for an option. An invalid value is reported where it is given: later it would
// be an error of each event, or no error at all. An option that is `undefined` counts as not given.

/** @throws TypeError unless the value is an object with this function, or absent. */
export function checkHas(value: unknown, field: string, method: string): void {
  if (value !== undefined) checkGiven(value, field, method);
}

/** @throws TypeError unless the value is an object with this function. */
export function checkGiven<T>(
  value: T,
  field: string,
  method: string,
): asserts value is NonNullable<T> {
  const holds = isObject(value) || typeof value === "function";
  if (holds && typeof Reflect.get(value, method) === "function") return;
  const expected = `an object with a function "${method}"`;
  // The result of `setupTracing` or `setupTelemetry`.
  const isSetup = method === "send" && isObject(value) && "createBridge" in value;
  const advice = isSetup ? ": pass its `createBridge()`" : "";
  throw new TypeError(`${field}: expected ${expected}, got ${describe(value)}${advice}`);
}

/** @throws TypeError unless the value is a function, or absent. */
export function checkFunction(value: unknown, field: string): void {
  if (value === undefined || typeof value === "function") return;
  throw new TypeError(`${field}: expected a function, got ${describe(value)}`);
}

/** @throws TypeError unless the value is an object and no list, or absent. */
export function checkObject(value: unknown, field: string): void {
  if (value === undefined || (isObject(value) && !Array.isArray(value))) return;
  throw new TypeError(`${field}: expected an object, got ${describe(value)}`);
}

/** @throws TypeError unless the argument is an object. */
export function checkArgument(value: unknown, argument: string): void {
  if (isObject(value)) return;
  throw new TypeError(`${argument}: expected an object, got ${describe(value)}`);
}

/** @throws TypeError unless the value is a function. */
export function checkGivenFunction(value: unknown, argument: string): void {
  if (typeof value === "function") return;
  throw new TypeError(`${argument}: expected a function, got ${describe(value)}`);
}

/** @throws TypeError unless the value is a text. */
export function checkGivenText(value: unknown, argument: string): void {
  if (typeof value === "string") return;
  throw new TypeError(`${argument}: expected a text, got ${describe(value)}`);
}

/** @throws TypeError unless the value is a list, or absent. */
export function checkList(value: unknown, field: string): void {
  if (value === undefined || Array.isArray(value)) return;
  throw new TypeError(`${field}: expected a list, got ${describe(value)}`);
}

/** @throws TypeError unless the value is a text, or absent. */
export function checkText(value: unknown, field: string): void {
  if (value === undefined || typeof value === "string") return;
  throw new TypeError(`${field}: expected a text, got ${describe(value)}`);
}

/** Checks for an object with one of these functions, for a table of checks. */
export function having(method: string, isRequired = false) {
  const check: typeof checkHas = isRequired ? checkGiven : checkHas;
  return (value: unknown, field: string): void => check(value, field, method);
}

/** Checks for one of these texts, or nothing. */
export function among(...known: readonly string[]) {
  return (value: unknown, field: string): void => checkOneOf(value, field, known);
}

/** Checks for a whole number from `least`, or nothing. */
export function wholeFrom(least: number) {
  return (value: unknown, field: string): void => {
    if (value !== undefined) checkWhole(value, field, least);
  };
}

/** @throws TypeError unless the value is true, false or absent. A text such as "false" would count as true. */
export function checkBoolean(value: unknown, field: string): void {
  if (value === undefined || typeof value === "boolean") return;
  throw new TypeError(`${field}: expected true or false, got ${describe(value)}`);
}

/** @throws TypeError unless the value is one of these, or absent. */
export function checkOneOf(value: unknown, field: string, known: readonly string[]): void {
  if (value === undefined || known.some((name) => name === value)) return;
  const got = typeof value === "string" ? JSON.stringify(value) : describe(value);
  throw new TypeError(`${field}: expected ${known.join(" or ")}, got ${got}`);
}

/** The value as a number, or its type. */
export function shownNumber(value: unknown): string {
  return typeof value === "number" ? String(value) : describe(value);
}

/** The type of a value. The value itself may be a secret. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (value === "") return "an empty text";
  return Array.isArray(value) ? "a list" : typeof value;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether a value is a whole number from 0 that JavaScript represents exactly. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Whether a value is a whole number from 0 of any size. */
export function isWholeNumber(value: unknown): value is number | bigint {
  return typeof value === "bigint" ? value >= 0n : isCount(value);
}

/** @throws RangeError unless the value is a whole number from `least`. */
export function checkWhole(value: unknown, field: string, least = 0): void {
  if (isCount(value) && value >= least) return;
  throw new RangeError(`${field}: expected a whole number from ${least}, got ${String(value)}`);
}
