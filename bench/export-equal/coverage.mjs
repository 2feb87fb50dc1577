// What was among the spans that were compared, so that nobody need believe that it was.

const TESTS = {
  "made by the SDK, under limits": (_span, { bySdk }) => bySdk,
  "beside spans that did not fit": (_span, { most }) => most !== Number.POSITIVE_INFINITY,
  "of a resource with attributes still to come": ({ resource }) => "late" in resource.attributes,
  "of a resource with a schema": ({ resource }) => Boolean(resource.schemaUrl),
  "of a scope with a schema": ({ instrumentationScope: scope }) => Boolean(scope.schemaUrl),
  "of a scope with attributes": ({ instrumentationScope: scope }) => scope.attributes !== undefined,
  "with a parent": (span) => span.parentSpanContext !== undefined,
  "with a remote parent": (span) => span.parentSpanContext?.isRemote === true,
  "with a trace state": (span) => Boolean(span.spanContext().traceState?.serialize()),
  "with flags beside sampled": (span) => (span.spanContext().traceFlags & ~1) !== 0,
  "with a status": (span) => span.status.code !== 0,
  "with a status text": (span) => Boolean(span.status.message),
  "with events": (span) => span.events.length > 0,
  "with links": (span) => span.links.length > 0,
  "with a link to a remote span": (span) => span.links.some(({ context }) => context.isRemote),
  "with a link that has a trace state": (span) =>
    span.links.some(({ context }) => Boolean(context.traceState?.serialize())),
  "with dropped attributes": (span) => span.droppedAttributesCount > 0,
  "with dropped events": (span) => span.droppedEventsCount > 0,
  "with dropped links": (span) => span.droppedLinksCount > 0,
  "with dropped attributes of an event": (span) =>
    span.events.some((event) => event.droppedAttributesCount > 0),
  "with dropped attributes of a link": (span) =>
    span.links.some((link) => link.droppedAttributesCount > 0),
  "after 2038": (span) => span.startTime[0] > 2 ** 31,
};

const SURROGATE_ALONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Of each value; `depth` is 0 for an attribute's own. */
const VALUES = {
  "a text": (value) => typeof value === "string",
  "an empty text": (value) => value === "",
  "a text beyond ASCII": (value) => typeof value === "string" && /[^\0-\x7f]/.test(value),
  "half of a surrogate pair": (value) => typeof value === "string" && SURROGATE_ALONE.test(value),
  "a text of 16 KB or more": (value) => typeof value === "string" && value.length >= 16_384,
  "a whole number": (value) => Number.isInteger(value),
  "a whole number past 2^53": (value) => Number.isInteger(value) && Math.abs(value) > 2 ** 53,
  "a whole number past 64 bits": (value) => Number.isInteger(value) && Math.abs(value) > 2 ** 63,
  "a fraction": (value) => Number.isFinite(value) && !Number.isInteger(value),
  "-0": (value) => Object.is(value, -0),
  NaN: (value) => Number.isNaN(value),
  Infinity: (value) => value === Number.POSITIVE_INFINITY,
  "-Infinity": (value) => value === Number.NEGATIVE_INFINITY,
  "true or false": (value) => typeof value === "boolean",
  bytes: (value) => value instanceof Uint8Array,
  "a list": (value) => Array.isArray(value),
  "an empty list": (value) => Array.isArray(value) && value.length === 0,
  "a map": (value) => isMap(value),
  "a map or list four deep": (value, depth) => depth > 2 && (isMap(value) || Array.isArray(value)),
  "null or undefined": (value) => value === null || value === undefined,
  "a bigint": (value) => typeof value === "bigint",
  "a function or symbol": (value) => typeof value === "function" || typeof value === "symbol",
};

function isMap(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isBytes(value);
}
const isBytes = (value) => value instanceof Uint8Array;

const EMPTY_KEY = "with an empty key";

export class Coverage {
  #counts = new Map(
    [...Object.keys(TESTS), EMPTY_KEY, ...Object.keys(VALUES).map(valueName)].map((name) => [
      name,
      0,
    ]),
  );

  /** @param batch what the spans were drawn with. */
  add(spans, batch) {
    for (const span of spans) {
      for (const name in TESTS) if (TESTS[name](span, batch)) this.#count(name);
      const found = new Set();
      look({ ...span.attributes }, -1, found);
      for (const { attributes } of [...span.events, ...span.links]) look(attributes, -1, found);
      for (const name of found) this.#count(name);
    }
  }

  /** Spans by what they had. */
  counts() {
    return Object.fromEntries([...this.#counts].map(([name, spans]) => [name, { spans }]));
  }

  /** What no span had. */
  missing() {
    return [...this.#counts].flatMap(([name, spans]) => (spans === 0 ? [name] : []));
  }

  #count(name) {
    this.#counts.set(name, this.#counts.get(name) + 1);
  }
}

function valueName(name) {
  return `with ${name}`;
}

/** Collects what a value, and all in it, are. */
function look(value, depth, found) {
  if (depth >= 0) {
    for (const name in VALUES) if (VALUES[name](value, depth)) found.add(valueName(name));
  }
  if (Array.isArray(value)) {
    for (const item of value) look(item, depth + 1, found);
  } else if (isMap(value)) {
    for (const [key, item] of Object.entries(value)) {
      if (key === "") found.add(EMPTY_KEY);
      look(item, depth + 1, found);
    }
  }
}
