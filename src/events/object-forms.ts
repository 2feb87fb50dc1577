import { wholeJson } from "./exact-json.ts";
import {
  type Adapt,
  type FieldIssue,
  type Form,
  type Infer,
  isText,
  note,
  type Optional,
  quoted,
  writeText,
} from "./forms.ts";

type Member = Form<unknown> | Optional<unknown>;
type Members = Readonly<Record<string, Member>>;

/** One type instead of an intersection, so that editors and errors show its fields. */
type Flat<T> = { [K in keyof T]: T[K] };

/** The type of an object with these fields. */
export type RecordOf<M extends Members> = Flat<
  {
    readonly [K in keyof M as M[K] extends Form<unknown> ? K : never]: Infer<M[K]>;
  } & {
    readonly [K in keyof M as M[K] extends Optional<unknown> ? K : never]?: M[K] extends Optional<
      infer T
    >
      ? T
      : never;
  }
>;

/** The form of an object. Undeclared fields are allowed and not checked. */
export interface RecordForm<T> extends Form<T> {
  /** The names of the declared fields, in the order of writing. */
  readonly names: ReadonlySet<string>;
  /** The object as JSON, with the field `tag` first. */
  writeTagged(value: JsonFields, tag: string): string;
}

type JsonFields = Readonly<Record<string, unknown>>;

interface Field {
  readonly name: string;
  /** A comma, the name as JSON, and a colon. */
  readonly key: string;
  readonly form: Form<unknown>;
  /** The form's own function, stored here so that the loop over the fields finds it directly. */
  readonly fits: (value: unknown) => boolean;
  readonly mayBeMissing: boolean;
  readonly mayBeNull: boolean;
  readonly written: string;
  readonly omitEmpty: boolean;
}

/** An object with these fields. */
export function record<M extends Members>(
  members: M,
  expected = "a JSON object",
): RecordForm<RecordOf<M>> {
  const fields = Object.entries(members).map(([each, member]) => fieldOf(each, member));
  const names = new Set(Object.keys(members));
  const texts = fields.filter(isPlainText).map((field) => field.name);
  const others = fields.filter((field) => !isPlainText(field));
  const forms = new Map(fields.map(({ form, name: each }) => [each, form]));
  const writeTagged = (given: JsonFields, tag: string) => writeRecord(fields, forms, given, tag);
  return {
    expected,
    names,
    writeTagged,
    fits: (given): given is RecordOf<M> => isObject(given) && fieldsFit(texts, others, given),
    explain(given, path, issues) {
      if (isObject(given)) explainFields(fields, given, path, issues);
      else note(issues, path, expected);
    },
    write: (given) => (isObject(given) ? writeTagged(given, "") : wholeJson(given)),
    adapt: adaptFields(fields),
  };
}

function fieldOf(each: string, member: Member): Field {
  const key = `,${JSON.stringify(each)}:`;
  if (!("form" in member)) {
    const always = { mayBeMissing: false, mayBeNull: false, written: "", omitEmpty: false };
    return { name: each, key, form: member, fits: member.fits, ...always };
  }
  const { form, nullable, omitEmpty, written } = member;
  const { fits } = form;
  const absent = { mayBeMissing: true, mayBeNull: nullable, written, omitEmpty };
  return { name: each, key, form, fits, ...absent };
}

/** Whether all fields of an object are valid. Most fields are texts, which need no call. */
function fieldsFit(texts: readonly string[], others: readonly Field[], given: JsonFields): boolean {
  for (const each of texts) if (typeof given[each] !== "string") return false;
  for (const { fits, mayBeMissing, mayBeNull, name } of others) {
    const inside = given[name];
    if (inside === undefined) {
      if (!mayBeMissing) return false;
    } else if (!fits(inside) && !(inside === null && mayBeNull)) return false;
  }
  return true;
}

function isPlainText({ fits, mayBeMissing }: Field): boolean {
  return fits === isText && !mayBeMissing;
}

/** Whether the field is validly absent, so that its form does not apply. */
function isMissing(field: Field, given: unknown): boolean {
  return given === undefined ? field.mayBeMissing : given === null && field.mayBeNull;
}

function explainFields(
  fields: readonly Field[],
  given: JsonFields,
  path: string,
  issues: FieldIssue[],
): void {
  for (const field of fields) {
    const inside = given[field.name];
    if (!isMissing(field, inside)) field.form.explain(inside, under(path, field.name), issues);
  }
}

function adaptFields(fields: readonly Field[]): Adapt | undefined {
  const adapting = fields.flatMap(({ name: each, form: { adapt } }) =>
    adapt === undefined ? [] : [{ name: each, adapt }],
  );
  if (adapting.length === 0) return undefined;
  return (given, found) => {
    if (!isObject(given)) return given;
    let adapted = given;
    for (const { adapt, name: each } of adapting) {
      const inside = given[each];
      if (inside === undefined) continue;
      const from = found.length;
      const known = adapt(inside, found);
      for (let n = from; n < found.length; n++) found[n] = qualified(each, found[n] ?? "");
      if (known !== inside) adapted = replaced(adapted, each, known);
    }
    return adapted;
  };
}

/** `=value` becomes `name=value`, and `inner=value` becomes `name.inner=value`. */
function qualified(each: string, found: string): string {
  return found.startsWith("=") ? each + found : `${each}.${found}`;
}

/** A copy with one field set, or removed (`undefined`). */
function replaced(given: JsonFields, each: string, known: unknown): JsonFields {
  if (known !== undefined) return { ...given, [each]: known };
  const { [each]: _, ...rest } = given;
  return rest;
}

function writeRecord(
  fields: readonly Field[],
  forms: ReadonlyMap<string, Form<unknown>>,
  given: JsonFields,
  tag: string,
): string {
  let known = 0;
  let text = "{";
  if (tag !== "") {
    known = 1;
    text = `{"${tag}":${writeText(given[tag])}`;
  }
  for (const field of fields) {
    const inside = given[field.name];
    if (inside !== undefined) known += 1;
    const written = writeField(field, inside);
    if (written !== "") text += (text === "{" ? field.key.slice(1) : field.key) + written;
  }
  // Unlike Object.keys, this makes no array.
  let names = 0;
  for (const _ in given) names += 1;
  return names > known && hasMore(forms, given, tag) ? writeAsItStands(given, forms) : `${text}}`;
}

/** The field's JSON, or an empty text if it is left out. */
function writeField({ form, mayBeNull, omitEmpty, written }: Field, given: unknown): string {
  if (given === undefined || (given === null && mayBeNull)) return written;
  return omitEmpty && Array.isArray(given) && given.length === 0 ? written : form.write(given);
}

/** Whether it has an unknown field. A known field that is `undefined` is absent, as in JSON. */
function hasMore(
  forms: ReadonlyMap<string, Form<unknown>>,
  given: JsonFields,
  tag: string,
): boolean {
  return Object.entries(given).some(
    ([each, inside]) => inside !== undefined && each !== tag && !forms.has(each),
  );
}

/** An object as JSON in its own order. Fields with a form are written in that form. */
export function writeAsItStands(
  given: JsonFields,
  forms: ReadonlyMap<string, Form<unknown>> = new Map(),
): string {
  const parts: string[] = [];
  for (const [each, inside] of Object.entries(given)) {
    if (inside === undefined) continue;
    const written = forms.get(each)?.write(inside) ?? wholeJson(inside);
    parts.push(`${JSON.stringify(each)}:${written}`);
  }
  return `{${parts.join(",")}}`;
}

type Variants = Readonly<Record<string, RecordForm<unknown>>>;

/** The type of a union whose variants the field `Tag` distinguishes. */
export type TaggedOf<Tag extends string, V extends Variants> = {
  [K in keyof V & string]: Flat<{ readonly [P in Tag]: K } & Infer<V[K]>>;
}[keyof V & string];

export interface TaggedForm<T> extends Form<T> {
  /** By the value of the tag. Each form is for objects that have this value. */
  readonly variants: ReadonlyMap<string, RecordForm<T>>;
}

export interface TaggedOptions {
  /** Default: a JSON object. */
  readonly expected?: string;
  /** Description of the tag. Default: one of the variants' names. */
  readonly expectedTag?: string;
  /** Makes a known object of one with an unknown tag. Default: such an object is invalid. */
  readonly adaptUnknown?: (value: JsonFields) => JsonFields;
  /** A variant that only `adaptUnknown` makes. On the wire, its name counts as unknown, too. */
  readonly reserved?: string;
}

/** A union of objects whose variants the field `tag` distinguishes. The tag is written first. */
export function tagged<const Tag extends string, V extends Variants>(
  tag: Tag,
  of: V,
  options: TaggedOptions = {},
): TaggedForm<TaggedOf<Tag, V>> {
  const { expected = "a JSON object", reserved, adaptUnknown } = options;
  const { expectedTag = `one of ${Object.keys(of).join(", ")}` } = options;
  type Value = TaggedOf<Tag, V>;
  const variants = new Map(
    // A variant does not check the tag, because it was found by the tag.
    Object.entries(of).map(([word, form]): [string, RecordForm<Value>] => [
      word,
      { ...form, fits: form.fits as RecordForm<Value>["fits"] },
    ]),
  );
  const byTag: ReadonlyMap<unknown, RecordForm<Value>> = variants;
  const adapts = adaptUnknown !== undefined || Object.values(of).some(({ adapt }) => adapt);
  return {
    expected,
    variants,
    fits(given): given is Value {
      if (!isObject(given)) return false;
      const variant = byTag.get(given[tag]);
      return variant?.fits(given) === true;
    },
    explain(given, path, issues) {
      if (!isObject(given)) return note(issues, path, expected);
      const variant = byTag.get(given[tag]);
      if (variant === undefined) note(issues, under(path, tag), expectedTag);
      else variant.explain(given, path, issues);
    },
    write(given) {
      const variant = isObject(given) ? byTag.get(given[tag]) : undefined;
      if (!isObject(given) || variant === undefined) return wholeJson(given);
      return variant.writeTagged(given, tag);
    },
    adapt: !adapts
      ? undefined
      : (given, found) => {
          if (!isObject(given)) return given;
          const word = given[tag];
          const variant = byTag.get(word);
          if (variant !== undefined && word !== reserved) {
            return variant.adapt ? variant.adapt(given, found) : given;
          }
          if (typeof word !== "string" || adaptUnknown === undefined) return given;
          found.push(`${tag}=${quoted(word)}`);
          return adaptUnknown(given);
        },
  };
}

/** Whether a value is a JSON object, so that its fields can be read. */
export function isObject(given: unknown): given is JsonFields {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

/** The path of a field inside the value at another path. */
export function under(path: string, each: string): string {
  return path === "" ? each : `${path}.${each}`;
}
