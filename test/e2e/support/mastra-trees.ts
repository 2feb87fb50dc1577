// What the scripted program must print of Mastra, whatever version of it is there.
import { type Trees, withUsage } from "./adapters-trees.ts";

const CHAT = "chat small-1 kind=2";
const MODEL = "request.model=small-1";
const USED = "usage.input_tokens=10 usage.cache_read.input_tokens=2 usage.output_tokens=5";

const answered = (reason: string) =>
  `  ${CHAT} model.outcome=complete ${MODEL} response.model=small-1-2026 response.finish_reasons=${reason} ${USED}`;
const ASKS = answered("tool-calls");
const SAYS = answered("stop");
const FAILED_MODEL = `  ${CHAT} ERROR model.outcome=error ${MODEL}`;

const completed = (calls: number, more = "") =>
  `invoke_agent support kind=0 run.outcome=complete usage.input_tokens=${10 * calls} usage.cache_read.input_tokens=${2 * calls} usage.output_tokens=${5 * calls}${more}`;
/** The workflows of the program. All other runs are agents. */
const operation = (name: string) =>
  name === "flow" || name === "inner" ? "invoke_workflow" : "invoke_agent";

const failed = (kind: string, origin: string, name = "support") =>
  `${operation(name)} ${name} kind=0 ERROR run.outcome=failed failure.kind=${kind} failure.origin=${origin}`;
const paused = (kind: string, name = "support") =>
  `${operation(name)} ${name} kind=0 run.outcome=interrupted interruption.kind=${kind}`;

const tool = (name: string, id: string, outcome = "complete") =>
  `  execute_tool ${name} kind=0 tool.outcome=${outcome} tool.call.id=${id}`;
const failedTool = (name: string, id: string, kind: string) =>
  `  execute_tool ${name} kind=0 ERROR tool.outcome=error tool.error_kind=${kind} tool.call.id=${id}`;
const step = (name: string, outcome = "complete") =>
  `  step ${name} kind=0 step.outcome=${outcome}`;

/** In the call or step above. */
const below = (...lines: readonly string[]) => lines.map((line) => `    ${line}`);

const DISPATCH = [failed("model_dispatch", "model"), FAILED_MODEL];
const CANCELLED = [failed("cancelled", "run"), FAILED_MODEL];
const DONE = "run.outcome=complete";

/**
 * @param isOld whether Mastra asks the model again after an abort inside a tool, retries in another way, and waits for
 *   a step that does not look at the signal.
 */
export function mastraTrees(isOld: boolean): Trees {
  return withUsage({
    success: [completed(2), ASKS, tool("look", "c1"), tool("look", "c2"), SAYS],
    "tool failure": [completed(2), ASKS, failedTool("boom", "c1", "internal"), SAYS],
    "tool that says it failed": [completed(2), ASKS, failedTool("mcp", "c1", "internal"), SAYS],
    "invalid input": [completed(2), ASKS, failedTool("add", "c1", "validation"), SAYS],
    "invalid result": [completed(2), ASKS, failedTool("wrong", "c1", "validation"), SAYS],
    "object of another form": [failed("internal", "run"), SAYS],
    "second model": [completed(1), `${SAYS} retry.count=1`],
    "model failure": DISPATCH,
    "retried model": isOld ? DISPATCH : [completed(1), SAYS],
    tripwire: [failed("internal", "run")],
    abort: [
      failed("cancelled", "run"),
      ASKS,
      tool("wait", "c1", "cancelled"),
      ...(isOld ? [FAILED_MODEL] : []),
    ],
    "abort in the model": CANCELLED,
    timeout: [failed("deadline_exceeded", "run"), FAILED_MODEL],
    stream: [completed(2), ASKS, tool("add", "c1"), SAYS],
    "stream that fails": DISPATCH,
    "reader that leaves": [
      failed("cancelled", "run"),
      `${FAILED_MODEL} response.model=small-1-2026`,
    ],
    "nested agents": [
      completed(4),
      ASKS,
      tool("agent-expert", "c1"),
      ...below(`invoke_agent expert kind=0 ${DONE}`, ASKS, tool("add", "c1"), SAYS),
      SAYS,
    ],
    "agent in a tool, whose model fails": [
      completed(2),
      ASKS,
      failedTool("ask", "c1", "transient"),
      ...below(failed("model_dispatch", "model", "expert"), FAILED_MODEL),
      SAYS,
    ],
    "agent whose turns are not exported": [
      completed(2),
      SAYS.replace(USED, completed(2).replace(/.*complete /, "")),
      tool("add", "c1"),
    ],
    // A durable agent's spans do not name the model that answered.
    "durable agent": [completed(2), ASKS, tool("add", "c1"), SAYS].map((line) =>
      line.replace(" response.model=small-1-2026", ""),
    ),
    // Mastra exports no span of the router.
    "router of agents": [completed(1).replace("support", "weather"), SAYS],
    "approved and paid": [
      paused("approval_pending"),
      ASKS,
      completed(1, " run.approved_calls=1 links=1"),
      tool("pay", "c1"),
      SAYS,
    ],
    denied: [
      paused("approval_pending"),
      ASKS,
      completed(1, " run.denied_calls=1 links=1"),
      tool("pay", "c1", "denied"),
      SAYS,
    ],
    "tool that waits": [
      paused("custom"),
      ASKS,
      tool("ask", "c1", "interrupted"),
      completed(1, " links=1"),
      tool("ask", "c1"),
      SAYS,
    ],
    "workflow that waits": [
      paused("custom", "flow"),
      step("hello"),
      ...below(`invoke_agent support kind=0 ${DONE}`, SAYS),
      step("pause", "interrupted"),
      `invoke_workflow flow kind=0 ${DONE} links=1`,
      step("pause"),
    ],
    "nested agent that waits": [
      paused("custom"),
      ASKS,
      tool("agent-expert", "c1", "interrupted"),
      ...below(paused("approval_pending", "expert"), ASKS),
      completed(2, " links=1"),
      tool("agent-expert", "c1"),
      ...below(
        `invoke_agent expert kind=0 ${DONE} run.approved_calls=1 links=1`,
        tool("pay", "c9"),
        SAYS,
      ),
      SAYS,
    ],
    "nested workflow that waits": [
      paused("custom", "flow"),
      step("inner", "interrupted"),
      ...below(paused("custom", "inner"), step("pause", "interrupted")),
      `invoke_workflow flow kind=0 ${DONE} links=1`,
      step("inner"),
      ...below(`invoke_workflow inner kind=0 ${DONE} links=1`, step("pause")),
    ],
    "workflow in a tool": [
      completed(2),
      ASKS,
      tool("workflow-inner", "c1"),
      ...below(`invoke_workflow inner kind=0 ${DONE}`, step("twice")),
      SAYS,
    ],
    "workflow that fails": [
      failed("unclassified", "run", "flow"),
      "  step fail kind=0 ERROR step.outcome=error",
    ],
    "workflow whose agent fails": [
      failed("model_dispatch", "model", "flow"),
      "  step ask kind=0 ERROR step.outcome=error",
      ...below(failed("model_dispatch", "model"), FAILED_MODEL),
    ],
    "workflow that is cancelled": [failed("cancelled", "run", "flow"), step("wait", "cancelled")],
    "workflow with tasks of a list": [
      `invoke_workflow flow kind=0 ${DONE}`,
      ...["list", "each", "each", "each", "sum"].map((name) => step(name)),
    ],
    "workflow of which one task of a list fails": [
      failed("unclassified", "run", "flow"),
      step("list"),
      "  step each kind=0 ERROR step.outcome=error",
      step("each"),
      step("each"),
    ],
    "workflow of which one task of a list waits": [
      paused("custom", "flow"),
      ...["list", "each", "each"].map((name) => step(name)),
      step("each", "interrupted"),
      `invoke_workflow flow kind=0 ${DONE} links=1`,
      step("each"),
    ],
    "workflow of which one branch waits": [
      paused("custom", "flow"),
      step("quick"),
      step("ask", "interrupted"),
      `invoke_workflow flow kind=0 ${DONE} links=1`,
      step("ask"),
      step("last"),
    ],
    "workflow with a retry, a branch, a loop and an early end": [
      completed(1).replace("invoke_agent support", "invoke_workflow flow"),
      ...["flaky", "yes", "unpack", "loop", "loop", "prompt", "helper"].map((name) => step(name)),
      ...below(`invoke_agent helper kind=0 ${DONE}`, SAYS),
      step("stop"),
    ],
    "workflow that is cancelled in a step which does not look": [
      failed("cancelled", "run", "flow"),
      step("deaf", isOld ? "complete" : "cancelled"),
    ],
  });
}
