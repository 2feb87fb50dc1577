import { MemorySessionLog } from "../../../src/entries/audit.ts";
import type { RunContext } from "../../../src/entries/context.ts";
import { readEvents } from "../../../src/entries/replay.ts";
import { toMessages } from "../../../src/entries/runtime.ts";
import {
  ATTRIBUTES,
  exceptionDetails,
  readEnvironment,
  readHeaders,
  writeEnvironment,
  writeHeaders,
} from "../../../src/events/door.ts";
import {
  Bridge,
  classifyFailure,
  classifyToolError,
  envelopeOf,
  renderForLlm,
} from "../../../src/index.ts";
import { type AnyRuntime, RUNTIMES } from "../../../src/replay/door.ts";
import { collectSpans } from "../../support/spans.ts";
import { shownSpan } from "../../view/support/shown-span.ts";
import { type DialectName, streamsOf } from "./valid-lines.ts";

/** A way for a text of others into the library, the services or the page. */
export interface Entrance {
  readonly name: string;
  take(text: string): unknown;
}

/**
 * Every field of every type of line of a dialect: the line stands in a recorded stream, and the stream is played with
 * content and an audit log.
 */
export function lineEntrances(dialect: DialectName): readonly Entrance[] {
  const runtime = RUNTIMES.find((each) => each.dialect.name === dialect);
  if (runtime === undefined) throw new Error(`expected a runtime ${dialect}`);
  const found = new Map<string, Entrance>();
  const streams = [...streamsOf(dialect)].sort((one, other) => one.length - other.length);
  for (const lines of streams) {
    for (const [at, line] of lines.entries()) {
      const value: unknown = JSON.parse(line);
      for (const path of pathsIn(value)) {
        const name = `${typeIn(value)}: ${path.join(".")}`;
        if (found.has(name)) continue;
        const take = (text: string) =>
          play(runtime, lines.with(at, JSON.stringify(replaced(value, path, text))));
        found.set(name, { name, take });
      }
    }
  }
  return [...found.values()];
}

async function play(runtime: AnyRuntime, lines: readonly string[]): Promise<void> {
  const { provider } = collectSpans();
  const bridge = new Bridge({
    mode: "replay",
    tracerProvider: provider,
    captureContent: true,
    audit: new MemorySessionLog(),
  });
  const player = runtime.player(bridge, "acme");
  await readEvents(bytesOf(lines), {
    dialects: [runtime.dialect],
    onEvent: ({ event, envelope }) => player.take(event, envelope),
    onIssue: () => {},
  });
  await player.end();
  await bridge.shutdown();
}

async function* bytesOf(lines: readonly string[]): AsyncGenerator<string> {
  yield `${lines.join("\n")}\n`;
}

/** The fields of a value down to so many levels, its lists' first elements among them. */
function pathsIn(value: unknown, levels = 6): (readonly string[])[] {
  if (levels === 0 || typeof value !== "object" || value === null) return [];
  const entries = Array.isArray(value) ? Object.entries(value).slice(0, 1) : Object.entries(value);
  return entries.flatMap(([name, field]) => [
    [name],
    ...pathsIn(field, levels - 1).map((path) => [name, ...path]),
  ]);
}

function replaced(value: unknown, [name, ...rest]: readonly string[], text: string): unknown {
  if (name === undefined) return text;
  if (typeof value !== "object" || value === null) return value;
  const field = replaced(Reflect.get(value, name), rest, text);
  return Array.isArray(value) ? value.with(Number(name), field) : { ...value, [name]: field };
}

function typeIn(line: unknown): string {
  if (typeof line !== "object" || line === null) return "";
  if ("event" in line) return typeIn(line.event);
  return String(Reflect.get(line, "type") ?? Reflect.get(line, "kind"));
}

/** Errors as foreign libraries throw them, and what is made of them. */
export const ERRORS: readonly Entrance[] = (
  [
    ["message", (text) => new Error(text)],
    ["name", (text) => Object.assign(new Error("x"), { name: text })],
    ["stack", (text) => Object.assign(new Error("x"), { stack: text })],
    ["code", (text) => Object.assign(new Error("x"), { code: text })],
    ["status", (text) => Object.assign(new Error("x"), { status: text })],
    [
      "retry-after",
      (text) => Object.assign(new Error("x"), { status: 429, headers: { "retry-after": text } }),
    ],
    ["cause", (text) => new Error("x", { cause: new Error(text) })],
    ["errors", (text) => new AggregateError([new Error(text)], text)],
    [
      "issues",
      (text) =>
        Object.assign(new Error("x"), {
          name: "ZodError",
          issues: [{ code: text, message: text, path: [text] }],
        }),
    ],
    [
      "body",
      (text) =>
        Object.assign(new Error(text), { name: "ApiError", status: 400, body: text, error: text }),
    ],
    ["thrown", (text) => text],
  ] as const satisfies readonly (readonly [string, (text: string) => unknown])[]
).map(([name, make]) => ({
  name,
  take: (text) => {
    const thrown = make(text);
    return [
      classifyFailure(thrown),
      classifyToolError(thrown),
      envelopeOf(thrown),
      renderForLlm(thrown),
      exceptionDetails(thrown),
    ];
  },
}));

const CONTEXT: RunContext = {
  root_run_id: "r1",
  traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  tracestate: "a=b",
  parent_run_id: "r1",
  parent_tool_use_id: "t1",
  thread_id: "th",
};

/** Headers of requests and variables of processes that carry a run. */
export function carriers(): readonly Entrance[] {
  const headers = writeHeaders(CONTEXT, {});
  const variables = writeEnvironment(CONTEXT, {});
  return [
    ...Object.keys(headers).map((name) => ({
      name: `header ${name}`,
      take: (text: string) => readHeaders({ ...headers, [name]: text }),
    })),
    ...Object.keys(variables).map((name) => ({
      name: `variable ${name}`,
      take: (text: string) => readEnvironment({ ...variables, [name]: text }),
    })),
  ];
}

/** Messages of every library, with a text of others where they hold one. */
export const MESSAGES: readonly Entrance[] = (
  [
    ["a text", (text) => text],
    ["content", (text) => [{ role: "user", content: text }]],
    ["role", (text) => [{ role: text, content: "x" }]],
    ["a file of the AI SDK", (text) => [part({ type: "file", mediaType: text, data: text })]],
    [
      "an image of Chat Completions",
      (text) => [part({ type: "image_url", image_url: { url: text } })],
    ],
    ["a file of Chat Completions", (text) => [part({ type: "file", file: { file_data: text } })]],
    ["an image of Responses", (text) => [part({ type: "input_image", image_url: text })]],
    ["audio", (text) => [part({ type: "input_audio", input_audio: { data: text, format: text } })]],
    [
      "an image of Anthropic",
      (text) => [part({ type: "image", source: { type: "base64", media_type: text, data: text } })],
    ],
    [
      "data of Gemini",
      (text) => [{ role: "user", parts: [{ inlineData: { mimeType: text, data: text } }] }],
    ],
    [
      "arguments",
      (text) => [
        {
          role: "assistant",
          tool_calls: [{ id: text, type: "function", function: { name: text, arguments: text } }],
        },
      ],
    ],
    [
      "a call of Responses",
      (text) => [{ type: "function_call", call_id: text, name: text, arguments: text }],
    ],
    ["a message of LangChain", (text) => [{ type: text, data: { content: text, type: text } }]],
  ] as const satisfies readonly (readonly [string, (text: string) => unknown])[]
).map(([name, make]) => ({ name, take: (text) => toMessages(make(text)) }));

function part(content: unknown) {
  return { role: "user", content: [content] };
}

/** Every attribute of a span in OTLP, and the fields of a span: read, and all that the page makes of them. */
export const SPANS: readonly Entrance[] = [
  ...Object.keys(ATTRIBUTES).map((key) => ({
    name: `attribute ${key}`,
    take: (stringValue: string) => page({ attributes: [...RUN, { key, value: { stringValue } }] }),
  })),
  ...["name", "traceId", "spanId", "parentSpanId", "startTimeUnixNano"].map((field) => ({
    name: `field ${field}`,
    take: (text: string) => page({ [field]: text }),
  })),
  {
    name: "an event",
    take: (text) =>
      page({
        events: [
          {
            name: "exception",
            timeUnixNano: text,
            attributes: [{ key: "exception.stacktrace", value: { stringValue: text } }],
          },
        ],
      }),
  },
  {
    name: "an integer",
    take: (intValue) => page({ attributes: [{ key: "a", value: { intValue } }] }),
  },
];

const RUN = [
  { key: "entelix.run_id", value: { stringValue: "r1" } },
  { key: "gen_ai.operation.name", value: { stringValue: "execute_tool" } },
];

function page(fields: Readonly<Record<string, unknown>>) {
  return shownSpan({
    traceId: "1".repeat(32),
    spanId: "1".repeat(16),
    name: "x",
    startTimeUnixNano: "1795228846219980973",
    endTimeUnixNano: "1795228846299980973",
    attributes: RUN,
    status: { code: 2 },
    ...fields,
  });
}
