import { readFileSync } from "node:fs";
import { type BackendRow, FRAMEWORKS, type FrameworkName, ROWS } from "./backend-rows.ts";
import { pinnedVersion } from "./pinned-version.ts";

export const CONVENTIONS = ["genai", "openinference", "both"] as const;
export type Convention = (typeof CONVENTIONS)[number];

/** Why a backend does not show something. */
export interface BackendReason {
  /** Titles of rows. */
  readonly rows: readonly string[];
  /** Default: both. */
  readonly backend?: string;
  /** Default: all. */
  readonly conventions?: readonly Convention[];
  /** Default: all that have it. */
  readonly frameworks?: readonly FrameworkName[];
  readonly why: string;
}

/** What one backend shows of one framework's run. */
export interface Cell {
  readonly row: BackendRow;
  readonly backend: string;
  readonly conventions: Convention;
  readonly framework: FrameworkName;
}

export const REASONS: readonly BackendReason[] = [
  {
    rows: [
      "list: question and answer of a run",
      "list: question and answer as plain text",
      "list: question of a run that failed",
      "arguments of a tool call",
      "reasoning tokens",
      "text of a call for embeddings",
    ],
    backend: "phoenix",
    conventions: ["genai"],
    why: "Phoenix reads it only under the name of OpenInference.",
  },
  {
    rows: ["query and documents of a retrieval"],
    backend: "phoenix",
    conventions: ["genai"],
    why: "Phoenix reads documents under the names of the GenAI conventions only with ID and score. Those of LangChain have no score.",
  },
  {
    rows: ["list: question and answer as plain text"],
    backend: "mlflow",
    conventions: ["genai"],
    why: "MLflow lists the JSON of the messages. In a trace, it shows them as messages.",
  },
  {
    rows: ["kind of a step"],
    conventions: ["genai"],
    why: "The GenAI conventions have no operation for the steps of an agent.",
  },
  {
    rows: ["kind of a workflow"],
    conventions: ["genai"],
    why: "The backend does not know the operation `invoke_workflow` of the GenAI conventions yet.",
  },
  {
    rows: ["kind of a retrieval", "query and documents of a retrieval"],
    backend: "mlflow",
    conventions: ["genai"],
    why: "MLflow does not read retrievals of the GenAI conventions.",
  },
  {
    rows: ["parameters of the request", "reasoning tokens"],
    backend: "mlflow",
    why: "MLflow has no place for it.",
  },
  {
    rows: ["system instructions"],
    backend: "mlflow",
    conventions: ["genai"],
    frameworks: ["openai-agents", "ai-sdk"],
    why: "Their instructions are not among the messages, and MLflow shows only messages. Those of LangGraph are.",
  },
  {
    rows: ["tool definitions"],
    backend: "mlflow",
    conventions: ["openinference"],
    why: "MLflow reads them only under the name of the GenAI conventions.",
  },
  {
    rows: ["list: question of a run that failed", "question of a model call that failed"],
    frameworks: ["openai-agents"],
    why: "With the Responses API, the SDK reports the input of a call with its answer, unless it is streamed.",
  },
  {
    rows: ["error of a tool call"],
    frameworks: ["openai-agents"],
    why: "The SDK reports `Tool execution failed. Error details are redacted.` instead.",
  },
];

/** Number of the reason why something is not shown, from 1. 0: it is shown. */
export function reasonOf({ backend, conventions, framework, row }: Cell): number {
  const isIts = (reason: BackendReason) =>
    (reason.backend ?? backend) === backend &&
    reason.rows.includes(row.title) &&
    (reason.conventions ?? CONVENTIONS).includes(conventions) &&
    (reason.frameworks ?? FRAMEWORKS).includes(framework);
  return REASONS.findIndex(isIts) + 1;
}

/** Cells of a row, one for each framework that has it. */
export function cellsOf(row: BackendRow, backend: string, conventions: Convention): Cell[] {
  return (row.of ?? FRAMEWORKS).map((framework) => ({ row, backend, conventions, framework }));
}

const BACKENDS = ["phoenix", "mlflow"];
const TITLES: Readonly<Record<string, string>> = {
  phoenix: "Phoenix",
  mlflow: "MLflow",
  langgraph: "LangGraph",
  "openai-agents": "OpenAI Agents",
  "ai-sdk": "AI SDK",
};

/** The page `docs/backends.md`. */
export function backendsPage(): string {
  const columns = BACKENDS.flatMap((backend) =>
    CONVENTIONS.map((conventions) => ({ backend, conventions })),
  );
  const line = (...cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const lines = ROWS.map((row) =>
    line(
      row.title,
      ...columns.map(({ backend, conventions }) => {
        const reasons = cellsOf(row, backend, conventions).map(reasonOf);
        return [...new Set(reasons)].map((at) => (at === 0 ? "yes" : String(at))).join(", ");
      }),
    ),
  );
  const npm = (name: string) => pinnedVersion("llm-agents", name);
  return `${[
    "# What Phoenix and MLflow show",
    `The end-to-end tests run one agent with LangGraph ${npm("@langchain/langgraph")}, \
OpenAI Agents ${npm("@openai/agents")} and the AI SDK ${npm("ai")}. They send its
spans to Phoenix ${pythonVersion("phoenix", "arize-phoenix")} and MLflow ${pythonVersion("mlflow", "mlflow")}, \
with each value of [\`conventions\`](openinference.md), and ask the
backends by their APIs. Content is [captured](privacy.md). The model calls two tools, of which one fails, and answers. In
a second run, the model call fails. The table says what the backend shows by itself. Beside that, both list all
attributes of a span.`,
    [
      line(
        "shown",
        ...columns.map(({ backend, conventions }) => `${TITLES[backend]} ${conventions}`),
      ),
      line("---", ...columns.map(() => "---")),
      ...lines,
    ].join("\n"),
    "A number is the reason why it is not shown. If the reason names frameworks, it is shown with the others.",
    REASONS.map(({ frameworks, why }, at) => {
      const only = frameworks?.map((name) => TITLES[name]).join(", ");
      return `${at + 1}. ${only === undefined ? "" : `${only}: `}${why}`;
    }).join("\n"),
  ].join("\n\n")}\n`;
}

/** The version of a Python package that an installation of `scripts/servers` pins. */
function pythonVersion(server: string, name: string): string {
  const file = new URL(`../../../scripts/servers/${server}/requirements.txt`, import.meta.url);
  const [, version] = new RegExp(`^${name}==(\\S+)`, "m").exec(readFileSync(file, "utf8")) ?? [];
  if (version === undefined) throw new Error(`${server}: expected a version of ${name}`);
  return version;
}
