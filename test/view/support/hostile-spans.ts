// Spans that other programs could write into a file of spans, and what is said of each.

type Json = Readonly<Record<string, unknown>>;

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const START = "1795228846219980973";
const HASH = "ab".repeat(32);

function span(n: number, rest: Json = {}): Json {
  return {
    traceId: n.toString(16).padStart(32, "0"),
    spanId: n.toString(16).padStart(16, "0"),
    name: "invoke_agent a",
    startTimeUnixNano: START,
    endTimeUnixNano: "1795228846299980973",
    attributes: attributes(n),
    ...rest,
  };
}

function attributes(n: number, ...more: readonly unknown[]): readonly unknown[] {
  return [
    text("entelix.run_id", `r${n}`),
    text("entelix.tenant_id", "acme"),
    text("gen_ai.operation.name", "invoke_agent"),
    { key: "entelix.audit.ordinal", value: { intValue: "1" } },
    text("entelix.audit.hash", HASH),
    ...more,
  ];
}

const line = (...spans: readonly unknown[]) =>
  JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });

/** A line whose span has an attribute of a text of JSON, which JavaScript's own writer could not write. */
const withValue = (n: number, value: string) =>
  line(span(n, { attributes: attributes(n, { key: "deep", value: "VALUE" }) })).replace(
    '"VALUE"',
    () => value,
  );

const LEVELS = 20_000;
const kvlist = (levels: number) =>
  `${'{"kvlistValue":{"values":[{"key":"a","value":'.repeat(levels)}{"intValue":1}${"}]}}".repeat(levels)}`;
const array = (levels: number) =>
  `${'{"arrayValue":{"values":['.repeat(levels)}{"intValue":1}${"]}}".repeat(levels)}`;

const NO_TIMES = "a span without ids or times";
const TOO_DEEP = "a span that cannot be read: an attribute of more than 2000 levels";
const NO_REQUEST = "expected an ExportTraceServiceRequest in JSON on one line";

/** A line, what is told of it, and whether the run of its span is there. */
type Hostile = readonly [
  about: string,
  make: (n: number) => string,
  told: string | undefined,
  isRead: boolean,
];

export const HOSTILE: readonly Hostile[] = [
  ["deep kvlist", (n) => withValue(n, kvlist(LEVELS)), TOO_DEEP, false],
  ["deep list", (n) => withValue(n, array(LEVELS)), TOO_DEEP, false],
  ["kvlist of 400 levels", (n) => withValue(n, kvlist(400)), undefined, true],
  [
    "deep value of no type",
    (n) => withValue(n, `${'{"a":'.repeat(LEVELS)}1${"}".repeat(LEVELS)}`),
    undefined,
    true,
  ],
  [
    "deep in place of a text",
    (n) => line(span(n)).replace('"invoke_agent a"', `${"[".repeat(LEVELS)}${"]".repeat(LEVELS)}`),
    undefined,
    true,
  ],
  [
    "deep in an event",
    (n) =>
      line(span(n, { events: [{ name: "e", attributes: ["VALUE"] }] })).replace(
        '"VALUE"',
        () => `{"key":"k","value":${kvlist(LEVELS)}}`,
      ),
    TOO_DEEP,
    false,
  ],
  [
    "deep in a link",
    (n) =>
      line(
        span(n, {
          links: [{ traceId: "1".repeat(32), spanId: "1".repeat(16), attributes: ["VALUE"] }],
        }),
      ).replace('"VALUE"', () => `{"key":"k","value":${kvlist(LEVELS)}}`),
    TOO_DEEP,
    false,
  ],
  [
    "attributes no list",
    (n) => line(span(n, { attributes: { "0": text("entelix.run_id", "x") } })),
    undefined,
    false,
  ],
  [
    "attributes without keys and values",
    (n) =>
      line(
        span(n, {
          attributes: attributes(
            n,
            null,
            7,
            [],
            {},
            { key: 7, value: {} },
            { key: "a" },
            { key: "b", value: null },
            { key: "c", value: [] },
          ),
        }),
      ),
    undefined,
    true,
  ],
  [
    "attribute __proto__",
    (n) =>
      line(span(n)).replace(
        '"attributes":[',
        '"attributes":[{"key":"__proto__","value":{"stringValue":"x"}},',
      ),
    undefined,
    true,
  ],
  [
    "odd values",
    (n) =>
      line(
        span(n, {
          attributes: attributes(
            n,
            { key: "a", value: { bytesValue: 7 } },
            { key: "b", value: { bytesValue: "!" } },
            { key: "c", value: { intValue: "x" } },
            { key: "d", value: { intValue: "1e999" } },
            { key: "e", value: { doubleValue: "NaN" } },
            { key: "f", value: { arrayValue: null } },
            { key: "g", value: { arrayValue: { values: 7 } } },
            { key: "h", value: { kvlistValue: null } },
            { key: "i", value: { boolValue: "true" } },
          ),
        }),
      ),
    undefined,
    true,
  ],
  [
    "events null, links null, status null",
    (n) => line(span(n, { events: null, links: null, status: null })),
    undefined,
    true,
  ],
  [
    "events and links of nothing",
    (n) =>
      line(
        span(n, {
          events: [null, 1, "x", [], {}, { name: 7, timeUnixNano: "x" }],
          links: [null, {}, { traceId: 7 }],
        }),
      ),
    undefined,
    true,
  ],
  [
    "100,000 events",
    (n) => line(span(n, { events: Array.from({ length: 100_000 }, () => ({ name: "e" })) })),
    undefined,
    true,
  ],
  ["short trace id", (n) => line(span(n, { traceId: "ab" })), NO_TIMES, false],
  ["trace id no hex", (n) => line(span(n, { traceId: "g".repeat(32) })), NO_TIMES, false],
  ["span id a number", (n) => line(span(n, { spanId: 7 })), NO_TIMES, false],
  ["ids of zeros", (n) => line(span(n, { traceId: "0".repeat(32) })), NO_TIMES, false],
  ["parent odd", (n) => line(span(n, { parentSpanId: { a: 1 } })), undefined, true],
  [
    "own parent",
    (n) => line(span(n, { parentSpanId: n.toString(16).padStart(16, "0") })),
    undefined,
    true,
  ],
  ["negative time", (n) => line(span(n, { startTimeUnixNano: "-1" })), NO_TIMES, false],
  ["time NaN", (n) => line(span(n, { startTimeUnixNano: "NaN" })), NO_TIMES, false],
  ["time null", (n) => line(span(n, { endTimeUnixNano: null })), NO_TIMES, false],
  ["time of 30 digits", (n) => line(span(n, { endTimeUnixNano: "9".repeat(30) })), NO_TIMES, false],
  ["time of 20 digits", (n) => line(span(n, { endTimeUnixNano: "9".repeat(20) })), undefined, true],
  ["end before start", (n) => line(span(n, { endTimeUnixNano: "1" })), undefined, true],
  [
    "name no text",
    (n) => line(span(n, { name: { a: 1 }, status: { code: {}, message: 7 } })),
    undefined,
    true,
  ],
  ["twice the same ids", (n) => line(span(n), span(n)), undefined, true],
  ["a span that is null, a list, a text", (n) => line(null, [], "x", span(n)), undefined, true],
  [
    "a ring of parents",
    (n) =>
      line(span(n, { parentSpanId: "f".repeat(16) }), {
        ...span(n),
        spanId: "f".repeat(16),
        parentSpanId: n.toString(16).padStart(16, "0"),
        attributes: [],
      }),
    undefined,
    true,
  ],
  [
    "resource null",
    () =>
      '{"resourceSpans":[null,{"resource":null,"scopeSpans":null},{"scopeSpans":[null,{"spans":null},{"spans":{}}]}]}',
    undefined,
    false,
  ],
  ["resourceSpans no list", () => '{"resourceSpans":{"0":{}}}', NO_REQUEST, false],
  ["names of protobuf", () => '{"resource_spans":[]}', NO_REQUEST, false],
  [
    "brackets without an end",
    () => "[".repeat(100_000),
    `${NO_REQUEST} (jq -c . writes it so)`,
    false,
  ],
];

/** Each hostile line between two good ones: the first has the number 2 of its file. */
export const HOSTILE_LINES: readonly string[] = [
  ...HOSTILE.flatMap(([, make], at) => [line(span(1000 + at)), make(2000 + at)]),
  line(span(9999)),
];
