import fc from "fast-check";
import type { AgentRun } from "../../../src/agents/runtime/agent-run.ts";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import { interrupt } from "../../../src/agents/runtime/run-errors.ts";
import { AgentError } from "../../../src/index.ts";
import { forever } from "./said.ts";

/** What the code of an agent may do, well or badly. */
export type Step =
  | { readonly do: "tick" }
  | { readonly do: "wait" }
  | { readonly do: "hang" }
  | { readonly do: "abort" }
  | { readonly do: "throw"; readonly what: unknown }
  | { readonly do: "cost" }
  | {
      readonly do: "tool" | "model" | "child";
      readonly steps: readonly Step[];
      /** It is awaited; else it is forgotten. */
      readonly awaited: boolean;
      /** What it rejects with is swallowed. */
      readonly caught: boolean;
    };

const thrown = fc.constantFrom<unknown>(
  undefined,
  null,
  0,
  "text",
  Object.freeze(new Error("frozen")),
  Object.create(null),
  AgentError.http(401, "no"),
  AgentError.cancelled(),
  AgentError.usageLimitExceeded({ axis: "requests", limit: 1, observed: 1 }),
  interrupt({ type: "custom" }, { ask: 1 }),
);

const { steps } = fc.letrec<{ steps: Step[]; step: Step }>((tie) => ({
  steps: fc.array(tie("step"), { maxLength: 4, depthIdentifier: "steps" }),
  step: fc.oneof(
    { depthIdentifier: "steps", maxDepth: 3 },
    fc.constantFrom<Step>({ do: "tick" }, { do: "wait" }, { do: "cost" }, { do: "tick" }),
    fc.constantFrom<Step>({ do: "hang" }, { do: "abort" }, { do: "tick" }),
    thrown.map((what): Step => ({ do: "throw", what })),
    ...[1, 2, 3].map(() =>
      fc.record<Step & { do: "tool" | "model" | "child" }>({
        do: fc.constantFrom("tool" as const, "model" as const, "child" as const),
        steps: tie("steps"),
        awaited: fc.boolean(),
        caught: fc.boolean(),
      }),
    ),
  ),
}));

/** The code of an agent. */
export const program: fc.Arbitrary<readonly Step[]> = steps;

/** Where code stands, as the program knows it. */
export interface Standing {
  readonly runId: string;
  readonly toolUseId: string | undefined;
}

/** What happens while programs run. */
export interface Stage {
  readonly abort: () => void;
  /** A tool's function is called now. */
  readonly acts: (at: Standing) => void;
  /** A run has begun: inside which other code. */
  readonly begins: (runId: string, inside: Standing) => void;
  /** Of every child: it ends. */
  readonly children: Promise<unknown>[];
}

/** Runs a program as the code of a run, or of a call in it. */
export async function play(
  run: AgentRun,
  steps: readonly Step[],
  stage: Stage,
  toolUseId?: string,
): Promise<string> {
  const at = { runId: run.runId, toolUseId };
  for (const step of steps) {
    switch (step.do) {
      case "tick":
        await Promise.resolve();
        break;
      case "wait":
        await new Promise((resolve) => setImmediate(resolve));
        break;
      case "hang":
        await forever();
        break;
      case "abort":
        stage.abort();
        break;
      case "throw":
        throw step.what;
      case "cost":
        run.addCost("0.01");
        break;
      default: {
        const work = begin(run, step, stage, at);
        // The scene waits for what outlives its parent; nothing that is forgotten ends the process.
        if (step.do === "child") stage.children.push(work.catch(() => {}));
        if (step.awaited) await (step.caught ? work.catch(() => {}) : work);
      }
    }
  }
  return "done";
}

function begin(
  run: AgentRun,
  step: Step & { readonly do: "tool" | "model" | "child" },
  stage: Stage,
  at: Standing,
): Promise<unknown> {
  switch (step.do) {
    case "tool":
      return run.tool("t", ({ toolUseId }) => {
        stage.acts({ runId: run.runId, toolUseId });
        return play(run, step.steps, stage, toolUseId);
      });
    case "model":
      return run.model("m", (call) => {
        call.report({ usage: { input_tokens: 1, output_tokens: 1 } });
        return play(run, step.steps, stage, at.toolUseId);
      });
    case "child":
      return runAgent({ agent: "child", deadlineMs: 6 }, (child) => {
        stage.begins(child.runId, at);
        return play(child, step.steps, stage);
      });
  }
}
