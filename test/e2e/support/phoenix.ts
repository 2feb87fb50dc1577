import { fileURLToPath } from "node:url";
import { fetchJson } from "./http.ts";
import { field, list, text } from "./json-shape.ts";
import {
  type BackendKind,
  messageLine,
  type ShownSpan,
  type ShownTrace,
  withoutSpaces,
} from "./llm-backend.ts";

const PROGRAM = fileURLToPath(new URL("../programs/phoenix_on_loopback.py", import.meta.url));

/** What Phoenix's pages ask for. Its REST API has neither sessions nor users of a trace. */
const QUERY = `{
  projects { edges { node { spans(first: 1000) { edges { node {
    name parentId startTime spanKind statusCode statusMessage attributes
    tokenCountPrompt tokenCountCompletion cumulativeTokenCountPrompt cumulativeTokenCountCompletion
    tokenPromptDetails { cacheRead } input { value } output { value } events { name message }
    trace {
      userId costSummary { total { cost } }
      session { sessionId firstInput { value } lastOutput { value } }
    }
  } } } } } }
}`;

/** Arize Phoenix, with its database in the folder. */
export const PHOENIX: BackendKind = {
  name: "phoenix",
  program: PROGRAM,
  args: () => ["serve"],
  env: (port, folder) => ({
    PHOENIX_HOST: "127.0.0.1",
    PHOENIX_PORT: String(port),
    PHOENIX_WORKING_DIR: folder,
    PHOENIX_TELEMETRY_ENABLED: "false",
    PHOENIX_ALLOW_EXTERNAL_RESOURCES: "false",
    PHOENIX_DISABLE_AGENT_ASSISTANT: "true",
    PHOENIX_LOG_MIGRATIONS: "false",
  }),
  health: "/healthz",
  headers: "",
  traces,
};

async function traces(base: string): Promise<ReadonlyMap<string, ShownTrace>> {
  const answer = await fetchJson(`${base}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: QUERY }),
  });
  const errors = list(answer, "errors");
  if (errors.length > 0) throw new Error(`Phoenix: ${JSON.stringify(errors)}`);
  const spans = nodes(field(field(answer, "data"), "projects"))
    .flatMap((project) => nodes(field(project, "spans")))
    .sort((a, b) => Date.parse(text(a, "startTime")) - Date.parse(text(b, "startTime")));
  const shown = new Map<string, ShownTrace>();
  for (const root of spans.filter((span) => field(span, "parentId") === null)) {
    const trace = field(root, "trace");
    const session = sessionOf(root);
    shown.set(text(session, "sessionId"), {
      session: text(session, "sessionId"),
      user: known(field(trace, "userId")),
      failed: text(root, "statusCode") === "ERROR",
      request: ioText(field(session, "firstInput")),
      response: ioText(field(session, "lastOutput")),
      tokens: pair(
        field(root, "cumulativeTokenCountPrompt"),
        field(root, "cumulativeTokenCountCompletion"),
      ),
      cost: number(field(field(field(trace, "costSummary"), "total"), "cost")),
      spans: spans
        .filter((span) => text(sessionOf(span), "sessionId") === text(session, "sessionId"))
        .map(spanOf),
    });
  }
  return shown;
}

function nodes(connection: unknown): unknown[] {
  return list(connection, "edges").map((edge) => field(edge, "node"));
}

/** @throws TypeError for a trace without a session. */
function sessionOf(span: unknown): unknown {
  return field(field(span, "trace"), "session");
}

function spanOf(span: unknown): ShownSpan {
  const attributes: unknown = JSON.parse(text(span, "attributes"));
  const llm = field(attributes, "llm") ?? {};
  const model =
    field(llm, "model_name") ?? field(field(attributes, "embedding") ?? {}, "model_name");
  const counts = field(llm, "token_count") ?? {};
  const parameters = known(field(llm, "invocation_parameters"));
  return {
    name: text(span, "name"),
    kind: text(span, "spanKind").toUpperCase(),
    error: text(span, "statusCode") === "ERROR" ? text(span, "statusMessage") : undefined,
    tokens: pair(field(span, "tokenCountPrompt"), field(span, "tokenCountCompletion")),
    cached: number(field(field(span, "tokenPromptDetails"), "cacheRead")),
    reasoning: number(field(field(counts, "completion_details") ?? {}, "reasoning")),
    model: known(model),
    provider: known(field(llm, "provider")),
    parameters: parameters === undefined ? undefined : JSON.parse(parameters),
    tools: list(llm, "tools").map(toolName),
    finishReason: known(field(llm, "finish_reason")),
    input: messages(llm, "input_messages"),
    output: messages(llm, "output_messages"),
    argument: embedded(attributes) ?? ioText(field(span, "input")),
    result: documents(attributes) ?? ioText(field(span, "output")),
    exceptions: list(span, "events")
      .filter((event) => text(event, "name") === "exception")
      .map((event) => text(event, "message")),
  };
}

/** In the form of OpenInference, which Phoenix makes of ours. */
function messages(llm: unknown, name: string): string[] {
  return list(llm, name).map((holder) => {
    const message = field(holder, "message");
    return messageLine({
      role: text(message, "role"),
      text: known(field(message, "content")),
      calls: list(message, "tool_calls").map((entry) => {
        const call = field(entry, "tool_call");
        const called = field(call, "function");
        const input: unknown = JSON.parse(text(called, "arguments"));
        return { id: text(call, "id"), name: text(called, "name"), input };
      }),
      resultOf: known(field(message, "tool_call_id")),
      finishReason: known(field(message, "finish_reason")),
    });
  });
}

/** The texts of a retrieval's documents. */
function documents(attributes: unknown): string | undefined {
  const found = list(field(attributes, "retrieval") ?? {}, "documents");
  if (found.length === 0) return undefined;
  return found.map((each) => text(field(each, "document"), "content")).join("; ");
}

/** The texts of a call for embeddings. */
function embedded(attributes: unknown): string | undefined {
  const found = list(field(attributes, "embedding") ?? {}, "embeddings");
  if (found.length === 0) return undefined;
  return found.map((each) => text(field(each, "embedding"), "text")).join("; ");
}

/** Its schema is OpenAI's, with or without the level `function`. */
function toolName(tool: unknown): string {
  const schema: unknown = JSON.parse(text(field(tool, "tool"), "json_schema"));
  return text(field(schema, "function") ?? schema, "name");
}

/** 0 and 0 is what it shows where there are none. */
function pair(input: unknown, output: unknown): readonly [number, number] | undefined {
  return input && output ? [Number(input), Number(output)] : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function ioText(io: unknown): string | undefined {
  return io === null || io === undefined ? undefined : withoutSpaces(text(io, "value"));
}

function known(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
