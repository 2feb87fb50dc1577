// What the scripted program must print of the AI SDK, whatever version of it is there.
import { type Trees, withUsage } from "./adapters-trees.ts";

const CHAT = "chat small-1 kind=2";
const MODEL = "request.model=small-1";
const USED = "usage.input_tokens=10 usage.cache_read.input_tokens=2 usage.output_tokens=5";

const answered = (reason: string, more = "") =>
  `  ${CHAT} model.outcome=complete ${MODEL} response.model=small-1-2026 response.finish_reasons=${reason} ${USED}${more}`;
const ASKS = answered("tool-calls");
const SAYS = answered("stop");
const failedModel = (more = "") => `  ${CHAT} ERROR model.outcome=error ${MODEL}${more}`;

/** A chunk of texts. */
const EMBEDDED =
  "  embeddings mock-model-id kind=2 model.outcome=complete request.model=mock-model-id usage.input_tokens=3";

const completed = (calls: number, more = "") =>
  `invoke_agent support kind=0 run.outcome=complete usage.input_tokens=${10 * calls} usage.cache_read.input_tokens=${2 * calls} usage.output_tokens=${5 * calls}${more}`;
const failed = (kind: string, origin: string) =>
  `invoke_agent support kind=0 ERROR run.outcome=failed failure.kind=${kind} failure.origin=${origin}`;

const tool = (name: string, id: string, outcome = "complete") =>
  `  execute_tool ${name} kind=0 tool.outcome=${outcome} tool.call.id=${id}`;
const failedTool = (name: string, id: string, kind: string) =>
  `  execute_tool ${name} kind=0 ERROR tool.outcome=error tool.error_kind=${kind} tool.call.id=${id}`;

const cancelled = [failed("cancelled", "run"), failedModel(" response.model=small-1-2026")];

/** What differs between versions. */
interface Version {
  readonly major: 6 | 7;
  /** Whether the SDK asks the model again after an abort inside a tool, as it did before 7.0.1xx. */
  readonly goesOn: boolean;
  /** Whether it says that a stream waits for an approval: before 6.0.111 it does not. */
  readonly streamsWait: boolean;
}

export function aiSdkTrees({ goesOn, major, streamsWait }: Version): Trees {
  const trees = withUsage({
    success: [completed(2), ASKS, tool("look", "c1"), tool("look", "c2"), SAYS],
    "tool failure": [completed(2), ASKS, failedTool("boom", "c1", "internal"), SAYS],
    "tool that says it failed": [completed(2), ASKS, failedTool("mcp", "c1", "internal"), SAYS],
    "invalid input": [
      completed(2),
      ASKS,
      failedTool("add", "c1", "validation"),
      failedTool("none", "c2", "validation"),
      SAYS,
    ],
    "model failure": [failed("model_dispatch", "model"), failedModel(" retry.count=1")],
    "retried model": [completed(1), answered("stop", " retry.count=2")],
    "failure of own code": [failed("unclassified", "run")],
    abort: goesOn
      ? [completed(2), ASKS, tool("wait", "c1", "cancelled"), SAYS]
      : [failed("cancelled", "run"), ASKS, tool("wait", "c1", "cancelled")],
    timeout: [failed("deadline_exceeded", "run"), failedModel()],
    stream: [completed(2), ASKS, tool("add", "c1"), SAYS],
    "stream that fails": [failed("model_dispatch", "model"), failedModel(` ${USED}`)],
    "stream that does not begin": [failed("model_dispatch", "model"), failedModel()],
    "stream whose retries fail": [failed("model_dispatch", "model"), failedModel(" retry.count=2")],
    "stream whose second step fails": [
      failed("model_dispatch", "model"),
      ASKS,
      tool("add", "c1"),
      failedModel(),
    ],
    "aborted stream": cancelled,
    "reader that leaves": cancelled,
    "client that leaves": cancelled,
    "client that leaves the second of two merged streams": [
      completed(1).replace("support", "first"),
      SAYS,
      failed("cancelled", "run").replace("support", "second"),
      failedModel(" response.model=small-1-2026"),
    ],
    "client that leaves a stream which is read all the same": [completed(1), SAYS],
    "stream with two readers": [completed(1), SAYS],
    "stream that a run returns": [
      "invoke_agent outer kind=0 run.outcome=complete",
      "  invoke_agent support kind=0 run.outcome=complete",
      `  ${SAYS}`,
    ],
    "stream with a time limit": [
      failed("deadline_exceeded", "run"),
      failedModel(" response.model=small-1-2026"),
    ],
    "stopped before it begins": [failed("cancelled", "run"), failedModel()],
    "tool of any input": [completed(2), ASKS, tool("any", "c1"), SAYS],
    "as many steps as may be": [completed(2), ASKS, tool("add", "c1"), ASKS, tool("add", "c1")],
    "answer that ends for no known reason": [completed(1), answered("other")],
    "nested agents": [
      completed(4),
      ASKS,
      tool("ask", "c1"),
      "    invoke_agent expert kind=0 run.outcome=complete",
      ...[ASKS, tool("add", "c1"), SAYS].map((line) => `    ${line}`),
      SAYS,
    ],
    "approved and denied": [
      "invoke_agent support kind=0 run.outcome=interrupted",
      ASKS,
      completed(1, " run.approved_calls=1 run.denied_calls=1 links=1"),
      tool("pay", "c2", "denied"),
      tool("pay", "c1"),
      SAYS,
    ],
    "approved and denied, beside one that nobody is asked about": [
      "invoke_agent support kind=0 run.outcome=interrupted",
      ASKS,
      tool("pay", "c1"),
      completed(1, " run.approved_calls=1 run.denied_calls=1 links=1"),
      tool("pay", "c3", "denied"),
      tool("pay", "c2"),
      SAYS,
    ],
    "stream that waits": [
      streamsWait ? "invoke_agent support kind=0 run.outcome=interrupted" : completed(1),
      ASKS,
      completed(1, ` run.approved_calls=1${streamsWait ? " links=1" : ""}`),
      tool("pay", "c1"),
      SAYS,
    ],
    "decided by a rule": [
      completed(2, " run.approved_calls=1 run.denied_calls=1"),
      ASKS,
      tool("add", "c2"),
      tool("pay", "c1", "denied"),
      SAYS,
    ],
    object: [completed(1), SAYS],
    "object of another form": [failed("internal", "run"), SAYS],
    "streamed object": [completed(1), SAYS],
    embedding: [
      completed(2).replace("input_tokens=20", "input_tokens=23"),
      ASKS,
      tool("search", "c1"),
      `  ${EMBEDDED}`,
      SAYS,
    ],
    "embeddings outside a run": [
      "invoke_agent support kind=0 run.outcome=complete usage.input_tokens=6 usage.output_tokens=0",
      EMBEDDED,
      EMBEDDED,
    ],
  });
  if (major === 7) return trees;
  return Object.fromEntries(Object.entries(trees).filter(([name]) => name !== "decided by a rule"));
}
