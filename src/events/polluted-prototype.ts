// Other code may add properties to `Object.prototype`: an old library, or an attacker through a merge of untrusted
// JSON. Every object seems to have them then. Options, events and answers of hooks are read without them. Otherwise,
// such a property would set the thread, the user or the limits of all agents.

const PLAIN = {};

/** The language's own properties. */
const STANDARD: ReadonlySet<PropertyKey> = new Set(
  (
    "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable valueOf toString toLocaleString " +
    "__proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__"
  ).split(" "),
);

/** Objects in events and signals that are read by field names. Others are content, which is read as its JSON. */
const INNER: ReadonlySet<PropertyKey> = new Set(
  "details usage envelope breach kind parameters decision exception mcp recorder end problem".split(
    " ",
  ),
);

/** Most levels of such objects, and most prototypes of one of them. */
const MOST = 8;

let hasHidden = false;

/**
 * Looks for added properties that are not enumerable. Each sink does so once, because it would take longer than the
 * other work for an event.
 */
export function lookForHidden(): void {
  hasHidden = Object.getOwnPropertyNames(Object.prototype).some((name) => !STANDARD.has(name));
}

/** Whether other code added this property to `Object.prototype`. */
export function isAdded(name: PropertyKey): boolean {
  return name in PLAIN && !STANDARD.has(name);
}

/**
 * The object without what other code added to `Object.prototype`. Usually nothing was, and it is the same object, as is
 * one that throws when it is read.
 */
export function withoutAdded<T>(given: T): T {
  // The engine knows the answer from a cache: this takes a few nanoseconds.
  for (const _ in PLAIN) return readCopy(given);
  return hasHidden ? readCopy(given) : given;
}

function readCopy<T>(given: T): T {
  try {
    return ownCopy(given);
  } catch {
    return given;
  }
}

/** A copy that inherits nothing. It has the fields of the object and of its classes. */
export function ownCopy<T>(given: T, levels: number = MOST): T {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
  const copy: T & object = Object.create(null);
  let at: object | null = given;
  for (let n = 0; n < MOST && at !== null && at !== Object.prototype; n += 1) {
    for (const name of Reflect.ownKeys(at)) {
      if (STANDARD.has(name) || Object.hasOwn(copy, name)) continue;
      const value: unknown = Reflect.get(given, name);
      const isInner = levels > 0 && INNER.has(name);
      Object.defineProperty(copy, name, {
        configurable: true,
        enumerable: Object.prototype.propertyIsEnumerable.call(given, name),
        value: isInner ? ownCopy(value, levels - 1) : value,
        writable: true,
      });
    }
    at = Object.getPrototypeOf(at);
  }
  return copy;
}

/** Reads a property, unless the object has it only from other code's additions to `Object.prototype`. */
export function ownValue(given: object, name: PropertyKey): unknown {
  const value: unknown = Reflect.get(given, name);
  if (value === undefined || !isAdded(name)) return value;
  return Object.hasOwn(ownCopy(given, 0), name) ? value : undefined;
}
