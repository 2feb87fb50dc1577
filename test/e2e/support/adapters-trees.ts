// What the scripted programs must print, whatever version of the framework they run on.

const CHAT = "chat small-1 kind=2 model.outcome=complete request.model=small-1";
const USED = "usage.input_tokens=10 usage.cache_read.input_tokens=2 usage.output_tokens=5";

/** Name to tree, of a program's scenes. */
export type Trees = Readonly<Record<string, readonly string[]>>;

/** @param cached the part of the input tokens that was read from the cache; 0 where nobody says. */
const run = (name: string, tokens?: readonly [number, number], cached = (tokens?.[0] ?? 0) / 5) => {
  const line = `invoke_agent ${name} kind=0 run.outcome=complete`;
  if (tokens === undefined) return line;
  const cache = cached === 0 ? "" : ` usage.cache_read.input_tokens=${cached}`;
  return `${line} usage.input_tokens=${tokens[0]}${cache} usage.output_tokens=${tokens[1]}`;
};

/** A figure of a line. */
const figure = (line: string, name: string) =>
  Number(new RegExp(`usage\\.${name}=(\\d+)`).exec(line)?.[1] ?? 0);

/** What the calls below a root used, at each root that failed or paused. */
export function withUsage(trees: Trees): Trees {
  const whole = (lines: readonly string[]) =>
    lines.map((line, at) => {
      const end = /run\.outcome=(?:failed failure\.kind=\w+|interrupted)/.exec(line)?.[0];
      if (end === undefined || line.startsWith(" ")) return line;
      const next = lines.findIndex((other, n) => n > at && !other.startsWith(" "));
      const below = lines.slice(at + 1, next === -1 ? undefined : next);
      const sum = (name: string) => below.reduce((n, other) => n + figure(other, name), 0);
      const cached = sum("cache_read.input_tokens");
      if (sum("input_tokens") === 0) return line;
      const cache = cached === 0 ? "" : ` usage.cache_read.input_tokens=${cached}`;
      const used = `usage.input_tokens=${sum("input_tokens")}${cache} usage.output_tokens=${sum("output_tokens")}`;
      return line.replace(end, `${end} ${used}`);
    });
  return Object.fromEntries(Object.entries(trees).map(([name, lines]) => [name, whole(lines)]));
}

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
  if (callIds) return withUsage(trees);
  const withoutIds = (lines: readonly string[]) =>
    lines.map((line) => line.replace(/call\.id=c\d/, "call.id=UUID"));
  return withUsage(
    Object.fromEntries(Object.entries(trees).map(([name, lines]) => [name, withoutIds(lines)])),
  );
}

/** The SDK tells of the model that answered, which stands for the one that was asked for, too. */
const ASKS = `${CHAT} response.model=small-1 response.finish_reasons=tool_calls ${USED}`;
const SAYS = `${CHAT} response.model=small-1 response.finish_reasons=stop ${USED}`;

/** The OpenAI Agents SDK's. */
export const OPENAI_AGENTS_TREES: Trees = withUsage({
  success: [run("support", [20, 10]), `  ${ASKS}`, `  ${tool("add", "c1")}`, `  ${SAYS}`],
  "tool failure": [run("support", [20, 10]), `  ${ASKS}`, `  ${boom}`, `  ${SAYS}`],
  "tool failure that ends the run": [
    "invoke_agent support kind=0 ERROR run.outcome=failed failure.kind=tool_error_terminal",
    `  ${ASKS}`,
    `  ${boom}`,
  ],
  "model failure": [
    "invoke_agent support kind=0 ERROR run.outcome=failed failure.kind=model_dispatch",
    "  chat kind=2 ERROR model.outcome=error",
  ],
  "interrupt and resume": [
    "invoke_agent support kind=0 run.outcome=interrupted",
    `  ${ASKS}`,
    `${run("support", [10, 5])} links=1`,
    `  ${tool("pay", "c1")}`,
    `  ${SAYS}`,
  ],
  "parallel tools": [
    run("support", [20, 10]),
    `  ${ASKS}`,
    `  ${tool("left", "c1")}`,
    `  ${tool("right", "c2")}`,
    `  ${SAYS}`,
  ],
  "nested agent": [
    run("outer", [40, 20]),
    `  ${ASKS}`,
    `  ${tool("ask", "c1")}`,
    `    ${run("inner")}`,
    `      ${ASKS}`,
    `      ${tool("add", "c2")}`,
    `      ${SAYS}`,
    `  ${SAYS}`,
  ],
  handoff: [run("front", [20, 10]), `  ${ASKS}`, `  ${run("refunds")}`, `    ${SAYS}`],
  "too many turns": [
    "invoke_agent support kind=0 ERROR run.outcome=failed failure.kind=usage_limit_exceeded",
    `  ${ASKS}`,
    `  ${tool("add", "c1")}`,
  ],
});

const CLAUDE =
  "chat claude-small-1 kind=2 model.outcome=complete request.model=claude-small-1 usage.input_tokens=10 usage.output_tokens=5";

/** The same SDK's with models of the AI SDK. */
export const AISDK_TREES: Trees = withUsage({
  success: [run("support", [20, 10], 0), `  ${CLAUDE}`, `  ${tool("add", "c1")}`, `  ${CLAUDE}`],
  streamed: [run("support", [10, 5], 0), `  ${CLAUDE}`],
  "model failure": [
    "invoke_agent support kind=0 ERROR run.outcome=failed failure.kind=model_dispatch",
    "  chat claude-small-1 kind=2 ERROR model.outcome=error request.model=claude-small-1",
  ],
  "interrupt and resume": [
    "invoke_agent support kind=0 run.outcome=interrupted",
    `  ${CLAUDE}`,
    `${run("support", [10, 5], 0)} links=1`,
    `  ${tool("pay", "c1")}`,
    `  ${CLAUDE}`,
  ],
  "interrupt and reject": [
    "invoke_agent support kind=0 run.outcome=interrupted",
    `  ${CLAUDE}`,
    `${run("support", [10, 5], 0)} links=1`,
    `  ${tool("pay", "c1", "denied")}`,
    `  ${CLAUDE}`,
  ],
  "nested agent": [
    run("outer", [40, 20], 0),
    `  ${CLAUDE}`,
    `  ${tool("ask", "c1")}`,
    `    ${run("inner")}`,
    `      ${CLAUDE}`,
    `      ${tool("add", "c2")}`,
    `      ${CLAUDE}`,
    `  ${CLAUDE}`,
  ],
});
