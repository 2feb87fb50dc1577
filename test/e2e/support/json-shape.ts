/** The field of an object that came from outside; undefined when it is absent. */
export function field(holder: unknown, name: string): unknown {
  if (typeof holder !== "object" || holder === null) {
    throw new TypeError(`expected an object with ${name}, got ${JSON.stringify(holder)}`);
  }
  return Reflect.get(holder, name);
}

/** A list, empty when the field is absent: servers leave empty lists out. */
export function list(holder: unknown, name: string): unknown[] {
  const value = field(holder, name) ?? [];
  if (!Array.isArray(value)) throw new TypeError(`${name}: expected a list`);
  return value;
}

export function text(holder: unknown, name: string): string {
  const value = field(holder, name);
  if (typeof value !== "string") throw new TypeError(`${name}: expected text`);
  return value;
}

export function optionalText(holder: unknown, name: string): string | undefined {
  return field(holder, name) === undefined ? undefined : text(holder, name);
}

/** An object of which every value is text: labels, annotations. */
export function texts(holder: unknown, name: string): Record<string, string> {
  const value = field(holder, name) ?? {};
  if (typeof value !== "object" || value === null)
    throw new TypeError(`${name}: expected an object`);
  return Object.fromEntries(Object.keys(value).map((key) => [key, text(value, key)]));
}
