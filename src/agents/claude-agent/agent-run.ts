import { type AgentError, toMessages, type UsageSnapshot } from "../../events/door.ts";
import { type Beginning, LEFT_OPEN, type RunRef, RunWriter, type Step } from "../core/door.ts";
import { cutBy } from "../runtime/door.ts";
import type { Ending } from "./failures.ts";
import type { HeldEvents } from "./held-events.ts";
import { ModelCalls, type ModelContent } from "./model-calls.ts";
import { type OpenTool, type ToolCallOptions, ToolCalls } from "./tool-calls.ts";
import type { PromptUsage } from "./usage-difference.ts";

/** State that the runs of a query share. */
export interface RunShared {
  readonly events: HeldEvents;
  readonly content: ModelContent;
  readonly tools: ToolCallOptions;
}

/** The run of a prompt or a sub-agent. */
export class AgentRun {
  readonly ref: RunRef;
  readonly writer: RunWriter<void, OpenTool>;
  readonly tools: ToolCalls;
  readonly model: ModelCalls;
  /** Content: text of the latest answer, used if there is no result. */
  answer: unknown;
  /** The error of the last model call, if nothing happened since. */
  modelError: unknown;
  /** Number of calls of ended sub-agents. */
  readonly below = { requests: 0, tools: 0 };
  /** What its prompt used. Sub-agents have none. */
  usage: PromptUsage | undefined;
  /** Whether a sub-agent or a compaction used tokens that the result's `usage` omits. */
  hasOthers = false;
  /** Sub-agents only: the run may continue after the prompt's result. */
  isInBackground = false;
  /** Sub-agents only: the agent has answered. A hook may still make it continue. */
  hasStopped = false;
  /** Sub-agents only: the parent run. */
  readonly above: AgentRun | undefined;
  readonly #readsContent: boolean;
  #compaction: Step | undefined;
  #isOver = false;

  constructor(shared: RunShared, ref: RunRef, above?: AgentRun) {
    this.ref = ref;
    this.above = above;
    this.#readsContent = shared.content.isRead;
    const totals = { snapshot: () => this.#used(), isOwn: true };
    this.writer = new RunWriter(shared.events, ref, { totals });
    const model = new ModelCalls(this.writer, shared.content);
    this.model = model;
    this.tools = new ToolCalls(this.writer, shared.events, shared.tools, () => model.touch());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** @param asked content: the prompt. */
  started(from: Omit<Beginning, "asked">, asked: unknown, readsRows: boolean): void {
    const isKnown = readsRows && asked !== undefined && asked !== "";
    this.writer.started({ asked: isKnown ? toMessages(asked) : undefined, ...from });
    // The stream repeats the prompt of a sub-agent.
    if (isKnown && this.above === undefined) this.model.addInput({ role: "user", content: asked });
    else this.model.touch();
  }

  completed(answer: unknown): void {
    if (!this.#end(LEFT_OPEN)) return;
    const output =
      this.#readsContent && answer !== undefined && answer !== ""
        ? toMessages(answer, "assistant")
        : undefined;
    this.writer.completed(output === undefined ? undefined : { output });
  }

  failed({ source, thrown }: Ending): void {
    if (this.#end(cutBy(thrown))) this.writer.failed({ thrown, source });
  }

  /** The run waits for an external decision about a call. */
  paused(toolUseId: string, payload: unknown): void {
    this.#compaction = undefined;
    this.model.answered();
    if (this.#isOver) return;
    this.#isOver = true;
    const kind = { type: "approval_pending", tool_use_id: toolUseId } as const;
    this.writer.interrupted(kind, payload, undefined);
  }

  compacting(): void {
    if (this.#compaction !== undefined) return;
    this.hasOthers = true;
    const stepId = this.writer.newId();
    this.#compaction = { stepId, step: "compaction", startedMs: performance.now() };
    this.writer.stepStarted(this.#compaction);
  }

  /** @param error why it failed. */
  compacted(error?: Ending): void {
    const step = this.#compaction;
    if (step === undefined) return;
    this.#compaction = undefined;
    if (error === undefined) this.writer.stepCompleted(step);
    else this.writer.stepFailed(step, error);
    this.model.touch();
  }

  /** @returns whether the run was still open. */
  #end(cut: AgentError): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.compacted();
    this.tools.end(cut);
    this.model.end(cut);
    if (this.above !== undefined) {
      const { requests, toolCalls } = this.#counts();
      this.above.below.requests += requests;
      this.above.below.tools += toolCalls;
    }
    return true;
  }

  #used(): UsageSnapshot | null {
    if (this.usage === undefined) return null;
    const { requests, toolCalls } = this.#counts();
    return { requests, tool_calls: toolCalls, ...this.usage };
  }

  #counts() {
    return {
      requests: this.model.requests + this.below.requests,
      toolCalls: this.tools.made + this.below.tools,
    };
  }
}
