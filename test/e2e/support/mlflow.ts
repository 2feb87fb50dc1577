import { fileURLToPath } from "node:url";
import { fetchJson } from "./http.ts";
import { field, list, optionalText, text, texts } from "./json-shape.ts";
import { type BackendKind, messageLine, type ShownSpan, type ShownTrace } from "./llm-backend.ts";

const PROGRAM = fileURLToPath(new URL("../programs/mlflow_in_one_process.py", import.meta.url));

/** The experiment that every new database has. */
const EXPERIMENT = "0";

/** MLflow's tracking server, with its database and its artifacts in the folder. */
export const MLFLOW: BackendKind = {
  name: "mlflow",
  program: PROGRAM,
  args: (port, folder) => [
    "server",
    ...["--host", "127.0.0.1", "--port", String(port), "--workers", "1"],
    ...["--backend-store-uri", `sqlite:///${folder}/mlflow.db`],
    ...["--artifacts-destination", `${folder}/artifacts`],
  ],
  env: () => ({
    // Otherwise eight more processes run jobs that no test has.
    MLFLOW_SERVER_ENABLE_JOB_EXECUTION: "false",
    MLFLOW_DISABLE_TELEMETRY: "true",
    DO_NOT_TRACK: "true",
  }),
  health: "/health",
  headers: `x-mlflow-experiment-id=${EXPERIMENT}`,
  traces,
};

async function traces(base: string): Promise<ReadonlyMap<string, ShownTrace>> {
  const api = `${base}/api/3.0/mlflow/traces`;
  const answer = await fetchJson(`${api}/search`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      locations: [{ type: "MLFLOW_EXPERIMENT", mlflow_experiment: { experiment_id: EXPERIMENT } }],
      max_results: 100,
    }),
  });
  const shown = new Map<string, ShownTrace>();
  for (const info of list(answer, "traces")) {
    const id = text(info, "trace_id");
    const trace = field(await fetchJson(`${api}/get?trace_id=${id}`), "trace");
    const metadata = texts(info, "trace_metadata");
    const session = text(metadata, "mlflow.trace.session");
    shown.set(session, {
      session,
      user: metadata["mlflow.trace.user"],
      failed: text(info, "state") === "ERROR",
      request: optionalText(info, "request_preview"),
      response: optionalText(info, "response_preview"),
      tokens: tokensIn(parsed(metadata["mlflow.trace.tokenUsage"])),
      cost: numberIn(parsed(metadata["mlflow.trace.cost"]), "total_cost"),
      spans: list(trace, "spans")
        .sort((a, b) => startOf(a) - startOf(b))
        .map(spanOf),
    });
  }
  return shown;
}

function startOf(span: unknown): number {
  return Number(field(span, "start_time_unix_nano"));
}

function spanOf(span: unknown): ShownSpan {
  const attributes = pairs(span, "attributes");
  const status = field(span, "status");
  const usage = attributes["mlflow.chat.tokenUsage"];
  const [inputs, outputs] = [attributes["mlflow.spanInputs"], attributes["mlflow.spanOutputs"]];
  const tools = attributes["mlflow.chat.tools"];
  return {
    name: text(span, "name"),
    kind: spanType(attributes),
    error: field(status, "code") === "STATUS_CODE_ERROR" ? text(status, "message") : undefined,
    tokens: tokensIn(usage),
    cached: numberIn(usage, "cache_read_input_tokens"),
    // It has no place for these two. They are among the attributes.
    reasoning: undefined,
    parameters: undefined,
    model: textOf(attributes["mlflow.llm.model"]),
    provider: textOf(attributes["mlflow.llm.provider"]),
    tools: Array.isArray(tools) ? tools.map((tool) => text(tool, "name")) : [],
    finishReason: Array.isArray(outputs) ? textOf(field(outputs[0], "finish_reason")) : undefined,
    input: messages(inputs),
    output: messages(outputs),
    argument: inputs === undefined ? undefined : asText(inputs),
    result: outputs === undefined ? undefined : asText(outputs),
    exceptions: list(span, "events")
      .filter((event) => text(event, "name") === "exception")
      .map((event) => text(pairs(event, "attributes"), "exception.message")),
  };
}

/** It has none for spans without an operation of the conventions. */
function spanType(attributes: unknown): string | undefined {
  return textOf(field(attributes, "mlflow.spanType"));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function tokensIn(usage: unknown): readonly [number, number] | undefined {
  if (usage === undefined) return undefined;
  return [Number(field(usage, "input_tokens")), Number(field(usage, "output_tokens"))];
}

function numberIn(holder: unknown, name: string): number | undefined {
  const value = holder === undefined ? undefined : field(holder, name);
  return value === undefined ? undefined : Number(value);
}

function parsed(json: string | undefined): unknown {
  return json === undefined ? undefined : JSON.parse(json);
}

/** In the form of the GenAI conventions, as they came. What is in another form is no message. */
function messages(values: unknown): string[] {
  if (!Array.isArray(values)) return [];
  return values
    .filter((message) => field(message, "parts") !== undefined)
    .map((message) => {
      const parts = list(message, "parts");
      const ofType = (type: string) => parts.filter((part) => text(part, "type") === type);
      const [result] = ofType("tool_call_response");
      const said = ofType("text").map((part) => text(part, "content"));
      return messageLine({
        role: text(message, "role"),
        text: result === undefined ? said.join("") : asText(field(result, "response")),
        calls: ofType("tool_call").map((call) => ({
          id: text(call, "id"),
          name: text(call, "name"),
          input: field(call, "arguments"),
        })),
        resultOf: result === undefined ? undefined : text(result, "id"),
        finishReason: optionalText(message, "finish_reason"),
      });
    });
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A list of `{ key, value }` as an object. */
function pairs(holder: unknown, name: string): Record<string, unknown> {
  return Object.fromEntries(
    list(holder, name).map((pair) => [text(pair, "key"), plain(field(pair, "value"))]),
  );
}

/** A value of OTLP, as MLflow writes it. Empty lists and objects both have no values. */
function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  const [[kind, held] = ["", undefined]] = Object.entries(value);
  if (kind === "array_value") return list(held, "values").map(plain);
  if (kind === "kvlist_value") return pairs(held, "values");
  if (kind !== "values") return held;
  // The outermost list or object has no kind.
  const isObject = Array.isArray(held) && held.some((entry) => field(entry, "key") !== undefined);
  return isObject ? pairs(value, "values") : list(value, "values").map(plain);
}
