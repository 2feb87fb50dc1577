import document from "../../../../docs/openapi.json" with { type: "json" };

type Values = Readonly<Record<string, unknown>>;

/** What a JSON value has that the schema does not allow; empty when it conforms. */
export function mismatches(schema: unknown, value: unknown, at = "$"): string[] {
  const rules = objectOf(schema);
  const found: string[] = [];
  for (const [name, rule] of Object.entries(rules)) {
    found.push(...broken(name, rule, rules, value, at));
  }
  return found;
}

/** The schema of an answer in the service's OpenAPI document; throws when it is not there. */
export function answerSchema(path: string, method: string, status: number, type: string): unknown {
  const names = ["paths", path, method, "responses", String(status), "content", type, "schema"];
  return names.reduce<unknown>((holder, name) => {
    const value = objectOf(holder)[name];
    if (value === undefined) throw new Error(`${names.join("/")}: there is no ${name}`);
    return value;
  }, document);
}

/** The headers that an answer of this status must have, by the document. */
export function answerHeaders(path: string, method: string, status: number): readonly string[] {
  const paths = objectOf(document.paths);
  const responses = objectOf(objectOf(objectOf(paths[path])[method]).responses);
  return Object.keys(objectOf(objectOf(responses[String(status)]).headers ?? {}));
}

function broken(name: string, rule: unknown, rules: Values, value: unknown, at: string): string[] {
  switch (name) {
    case "$ref":
      return mismatches(resolved(String(rule)), value, at);
    case "allOf":
      return listOf(rule).flatMap((each) => mismatches(each, value, at));
    case "oneOf": {
      const fits = listOf(rule).filter((each) => mismatches(each, value, at).length === 0);
      return fits.length === 1 ? [] : [`${at}: fits ${fits.length} of oneOf`];
    }
    case "type":
      return hasType(String(rule), value) ? [] : [`${at}: expected ${String(rule)}`];
    case "const":
      return value === rule ? [] : [`${at}: expected ${String(rule)}`];
    case "enum":
      return listOf(rule).includes(value) ? [] : [`${at}: expected one of ${String(rule)}`];
    case "minimum":
      return typeof value !== "number" || value >= Number(rule) ? [] : [`${at}: too small`];
    case "maxItems":
      return !Array.isArray(value) || value.length <= Number(rule) ? [] : [`${at}: too long`];
    case "format": {
      const isTime = rule === "date-time" && !Number.isNaN(Date.parse(String(value)));
      return isTime ? [] : [`${at}: expected ${String(rule)}`];
    }
    case "items":
      return Array.isArray(value)
        ? value.flatMap((item, index) => mismatches(rule, item, `${at}[${index}]`))
        : [];
    case "required":
      return isObject(value)
        ? listOf(rule).flatMap((key) => (String(key) in value ? [] : [`${at}: no ${String(key)}`]))
        : [];
    case "properties":
      return isObject(value)
        ? Object.entries(objectOf(rule)).flatMap(([key, each]) =>
            key in value ? mismatches(each, value[key], `${at}.${key}`) : [],
          )
        : [];
    case "additionalProperties": {
      const known = new Set(Object.keys(objectOf(rules.properties ?? {})));
      const more = isObject(value) ? Object.keys(value).filter((key) => !known.has(key)) : [];
      return rule === false ? more.map((key) => `${at}: has ${key}`) : [];
    }
    case "description":
    case "default":
      return [];
    default:
      // A rule that is not checked would be one that a test can't fail on.
      throw new Error(`${at}: the checker has no rule ${name}`);
  }
}

function resolved(reference: string): unknown {
  const names = reference.replace("#/", "").split("/");
  return names.reduce<unknown>((holder, name) => objectOf(holder)[name], document);
}

function hasType(type: string, value: unknown): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): Values {
  if (!isObject(value)) throw new Error(`expected an object, got ${JSON.stringify(value)}`);
  return value;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`expected a list, got ${JSON.stringify(value)}`);
  return value;
}
