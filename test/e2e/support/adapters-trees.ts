// What the scripted programs must print, whatever version of the framework they run on.

const CHAT = "chat small-1 kind=2 model.outcome=complete request.model=small-1";
const USED = "usage.input_tokens=10 usage.cache_read.input_tokens=2 usage.output_tokens=5";

/** Name to tree, of a program's scenes. */
export type Trees = Readonly<Record<string, readonly string[]>>;

const run = (name: string, tokens?: readonly [number, number]) =>
  `invoke_agent ${name} kind=0 run.outcome=complete${tokens === undefined ? "" : ` usage.input_tokens=${tokens[0]} usage.output_tokens=${tokens[1]}`}`;

const tool = (name: string, id: string, outcome = "complete") =>
  `execute_tool ${name} kind=0 tool.outcome=${outcome} tool.call.id=${id}`;

const step = (name: string, outcome = "complete") => `step ${name} kind=0 step.outcome=${outcome}`;

/** A node of LangGraph's own agent, with the one thing that it does. */
const node = (name: string, inside: string, outcome?: string) => [
  `  ${step(name, outcome)}`,
  `    ${inside}`,
];

const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`);

const boom =
  "execute_tool boom kind=0 ERROR tool.outcome=error tool.error_kind=internal tool.call.id=c1";

/**
 * LangChain's.
 *
 * @param callIds whether it tells of the model's ids of tool calls; else a run id stands there, shown as `UUID`.
 */
export function langchainTrees(callIds: boolean): Trees {
  const asks = `${CHAT} response.model=small-1-2026 response.finish_reasons=tool_calls ${USED}`;
  const says = `${CHAT} response.model=small-1-2026 response.finish_reasons=stop ${USED}`;
  const trees: Trees = {
    success: [
      run("support", [20, 10]),
      ...node("agent", asks),
      ...node("tools", tool("add", "c1")),
      ...node("agent", says),
    ],
    "tool failure": [
      run("support", [20, 10]),
      ...node("agent", asks),
      ...node("tools", boom),
      ...node("agent", says),
    ],
    "model failure": [
      "invoke_agent support kind=0 ERROR run.outcome=failed failure.kind=model_dispatch",
      "  step agent kind=0 ERROR step.outcome=error",
      "    chat small-1 kind=2 ERROR model.outcome=error request.model=small-1",
    ],
    "interrupt and resume": [
      "invoke_agent support kind=0 run.outcome=interrupted",
      ...node("agent", asks),
      ...node("tools", tool("ask", "c1", "interrupted"), "interrupted"),
      `${run("support", [10, 5])} links=1`,
      ...node("tools", tool("ask", "c1")),
      ...node("agent", says),
    ],
    "parallel tools": [
      run("support", [20, 10]),
      ...node("agent", asks),
      `  ${step("tools")}`,
      `    ${tool("left", "c1")}`,
      `    ${tool("right", "c2")}`,
      ...node("agent", says),
    ],
    "nested agent": [
      run("outer", [30, 15]),
      `  ${step("first")}`,
      `    ${run("inner")}`,
      ...indented(indented(node("agent", asks))),
      ...indented(indented(node("tools", tool("add", "c1")))),
      ...indented(indented(node("agent", says))),
      ...node("last", says),
    ],
    "agent in a tool": [
      run("outer", [30, 15]),
      ...node("agent", asks),
      ...node("tools", tool("ask", "c1")),
      `      ${run("inner")}`,
      ...indented(indented(indented(node("agent", says)))),
      ...node("agent", says),
    ],
    "parallel branches": [
      run("branches"),
      ...node("left", tool("look_left", "UUID")),
      ...node("right", tool("look_right", "UUID")),
    ],
  };
  if (callIds) return trees;
  const withoutIds = (lines: readonly string[]) =>
    lines.map((line) => line.replace(/call\.id=c\d/, "call.id=UUID"));
  return Object.fromEntries(
    Object.entries(trees).map(([name, lines]) => [name, withoutIds(lines)]),
  );
}

const SAYS = `${CHAT} response.model=small-1 ${USED}`;

/** The OpenAI Agents SDK's. */
export const OPENAI_AGENTS_TREES: Trees = {
  success: [run("support", [20, 10]), `  ${SAYS}`, `  ${tool("add", "c1")}`, `  ${SAYS}`],
  "tool failure": [run("support", [20, 10]), `  ${SAYS}`, `  ${boom}`, `  ${SAYS}`],
  "tool failure that ends the run": [
    "invoke_agent support kind=0 ERROR run.outcome=failed failure.kind=tool_error_terminal",
    `  ${SAYS}`,
    `  ${boom}`,
  ],
  "model failure": [
    "invoke_agent support kind=0 ERROR run.outcome=failed failure.kind=model_dispatch",
    "  chat kind=2 ERROR model.outcome=error",
  ],
  "interrupt and resume": [
    "invoke_agent support kind=0 run.outcome=interrupted",
    `  ${SAYS}`,
    `${run("support", [20, 10])} links=1`,
    `  ${tool("pay", "c1")}`,
    `  ${SAYS}`,
  ],
  "parallel tools": [
    run("support", [20, 10]),
    `  ${SAYS}`,
    `  ${tool("left", "c1")}`,
    `  ${tool("right", "c2")}`,
    `  ${SAYS}`,
  ],
  "nested agent": [
    run("outer", [40, 20]),
    `  ${SAYS}`,
    `  ${tool("ask", "c1")}`,
    `    ${run("inner")}`,
    `      ${SAYS}`,
    `      ${tool("add", "c2")}`,
    `      ${SAYS}`,
    `  ${SAYS}`,
  ],
  handoff: [run("front", [20, 10]), `  ${SAYS}`, `  ${run("refunds")}`, `    ${SAYS}`],
  "too many turns": [
    "invoke_agent support kind=0 ERROR run.outcome=failed failure.kind=usage_limit_exceeded",
    `  ${SAYS}`,
    `  ${tool("add", "c1")}`,
  ],
};

const CLAUDE =
  "chat anthropic.messages:claude-small-1 kind=2 model.outcome=complete request.model=anthropic.messages:claude-small-1 usage.input_tokens=10 usage.output_tokens=5";

/** The same SDK's with models of the AI SDK. */
export const AISDK_TREES: Trees = {
  success: [run("support", [20, 10]), `  ${CLAUDE}`, `  ${tool("add", "c1")}`, `  ${CLAUDE}`],
  streamed: [run("support", [10, 5]), `  ${CLAUDE}`],
  "model failure": [
    "invoke_agent support kind=0 ERROR run.outcome=failed failure.kind=model_dispatch",
    "  chat anthropic.messages:claude-small-1 kind=2 ERROR model.outcome=error request.model=anthropic.messages:claude-small-1",
  ],
  "interrupt and resume": [
    "invoke_agent support kind=0 run.outcome=interrupted",
    `  ${CLAUDE}`,
    `${run("support", [20, 10])} links=1`,
    `  ${tool("pay", "c1")}`,
    `  ${CLAUDE}`,
  ],
  "interrupt and reject": [
    "invoke_agent support kind=0 run.outcome=interrupted",
    `  ${CLAUDE}`,
    `${run("support", [20, 10])} links=1`,
    `  ${tool("pay", "c1", "denied")}`,
    `  ${CLAUDE}`,
  ],
  "nested agent": [
    run("outer", [40, 20]),
    `  ${CLAUDE}`,
    `  ${tool("ask", "c1")}`,
    `    ${run("inner")}`,
    `      ${CLAUDE}`,
    `      ${tool("add", "c2")}`,
    `      ${CLAUDE}`,
    `  ${CLAUDE}`,
  ],
};
