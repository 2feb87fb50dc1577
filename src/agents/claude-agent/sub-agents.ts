import { AgentError, FROM_MODEL, FROM_RUN } from "../../events/door.ts";
import { type Fields, fieldsOf, newRunRef, textOf } from "../core/door.ts";
import { AgentRun, type RunShared } from "./agent-run.ts";
import type { Ending } from "./failures.ts";
import type { OpenTool } from "./tool-calls.ts";

/** The part of a session that its sub-agents use. */
export interface AgentHost {
  readonly shared: RunShared;
  readonly readsRows: boolean;
  readonly most: number;
  /** The open call with that ID, in any run. */
  findCall(toolUseId: string): OpenTool | undefined;
  /** The run of the prompt. */
  main(): AgentRun;
  forgot(): void;
}

/** A sub-agent whose run has not started. */
interface Announced {
  type: string | undefined;
}

const CANCELLED: Ending = { thrown: AgentError.cancelled(), source: FROM_RUN };

/**
 * The sub-agents of a query at any depth. Each is a child run of the call that started it. Hooks have the sub-agent's
 * own ID, messages the ID of the call, and `task_started` has both.
 */
export class SubAgents {
  readonly #host: AgentHost;
  readonly #byId = new Map<string, AgentRun>();
  readonly #byCall = new Map<string, AgentRun>();
  /** Sub-agents known only from a hook. */
  readonly #announced = new Map<string, Announced>();

  constructor(host: AgentHost) {
    this.#host = host;
  }

  get open(): readonly AgentRun[] {
    return [...new Set([...this.#byId.values(), ...this.#byCall.values()])];
  }

  /** Hook `SubagentStart`. It does not have the call's ID. */
  announced(agentId: string, type: string | undefined): void {
    const run = this.#byId.get(agentId);
    if (run !== undefined || this.#announced.size >= this.#host.most) return;
    this.#announced.set(agentId, { type });
  }

  /** Message `task_started`. */
  taskStarted(message: Fields): void {
    const agentId = textOf(message.task_id);
    const type = textOf(message.subagent_type);
    const isAgent = message.task_type === "local_agent" || type !== undefined;
    if (agentId === undefined || !isAgent) return;
    const toolUseId = textOf(message.tool_use_id);
    const run = this.#runFor(agentId, toolUseId, type, message.prompt);
    run.isInBackground = message.is_backgrounded === true;
  }

  /** Messages `task_updated` and `task_notification`. */
  taskChanged(message: Fields): void {
    const run = this.#byId.get(textOf(message.task_id) ?? "");
    if (run === undefined) return;
    const patch = fieldsOf(message.patch);
    if (patch?.is_backgrounded === true) run.isInBackground = true;
    switch (message.status ?? patch?.status) {
      case "completed":
        this.#complete(run);
        return;
      case "failed": {
        const text = textOf(patch?.error) ?? textOf(message.summary) ?? "the sub-agent failed";
        this.#end(run, endingWith(run, text));
        return;
      }
      case "killed":
      case "stopped":
        this.#end(run, CANCELLED);
        return;
      default:
    }
  }

  /** Hook `SubagentStop`. Another hook may still make the sub-agent continue. */
  stopped(agentId: string, answer: unknown): void {
    const run = this.#byId.get(agentId);
    if (run === undefined) return;
    run.hasStopped = true;
    run.answer = answer;
  }

  /** The call that started it returned. */
  callEnded(call: OpenTool, isError: boolean): void {
    const run = this.#byCall.get(call.toolUseId);
    // A call of the sub-agent may have the ID of the call that started it.
    if (run === undefined || run.isInBackground || run.above?.tools !== call.run) return;
    if (isError && !run.hasStopped) {
      this.#end(run, endingWith(run, "the sub-agent's call failed"));
    } else this.#complete(run);
  }

  /** Links a sub-agent's ID to its call. The result of the call has both. */
  named(agentId: string, toolUseId: string): void {
    const run = this.#byCall.get(toolUseId);
    if (run !== undefined) this.#byId.set(agentId, run);
  }

  /** The run for a hook or message of a sub-agent. */
  of(agentId: string | undefined, toolUseId: string | undefined, type?: string): AgentRun {
    const known =
      (agentId === undefined ? undefined : this.#byId.get(agentId)) ??
      (toolUseId === undefined ? undefined : this.#byCall.get(toolUseId));
    if (known === undefined) return this.#runFor(agentId, toolUseId, type, undefined);
    if (agentId !== undefined) this.#byId.set(agentId, known);
    if (toolUseId !== undefined && !this.#byCall.has(toolUseId)) this.#byCall.set(toolUseId, known);
    known.hasStopped = false;
    return known;
  }

  /** The prompt has its result. Sub-agents end with it, unless they run in the background. */
  promptEnded(cut: Ending | undefined): void {
    for (const run of this.open) {
      if (run.hasStopped) this.#complete(run);
      else if (!run.isInBackground) this.#end(run, cut ?? CANCELLED);
    }
  }

  /** The process ended. */
  end(cut: Ending): void {
    for (const run of this.open.toReversed()) {
      if (run.hasStopped) this.#complete(run);
      else this.#end(run, cut);
    }
  }

  #runFor(
    agentId: string | undefined,
    toolUseId: string | undefined,
    type: string | undefined,
    prompt: unknown,
  ): AgentRun {
    const known = this.#byId.get(agentId ?? "") ?? this.#byCall.get(toolUseId ?? "");
    if (known !== undefined) return known;
    const host = this.#host;
    this.#makeRoom();
    const call = toolUseId === undefined ? undefined : host.findCall(toolUseId);
    call?.run.started(call);
    const above = this.#aboveOf(call, toolUseId);
    const { ref } = above;
    const announced = this.#announced.get(agentId ?? "");
    this.#announced.delete(agentId ?? "");
    const given = fieldsOf(call?.input);
    const origin = { tenantId: ref.tenantId, outer: ref };
    const run = new AgentRun(host.shared, newRunRef(origin, host.shared.tools.onError), above);
    for (let at: AgentRun | undefined = above; at !== undefined; at = at.above) at.hasOthers = true;
    run.model.above = above.model.model ?? above.model.above;
    run.started(
      {
        agent: type ?? announced?.type ?? textOf(given?.subagent_type) ?? "sub-agent",
        parentRunId: ref.runId,
        parentToolUseId: toolUseId,
      },
      prompt ?? given?.prompt,
      host.readsRows,
    );
    if (agentId !== undefined) this.#byId.set(agentId, run);
    if (toolUseId !== undefined) this.#byCall.set(toolUseId, run);
    return run;
  }

  #aboveOf(call: OpenTool | undefined, toolUseId: string | undefined): AgentRun {
    const main = this.#host.main();
    if (call === undefined || toolUseId === undefined) return main;
    return this.open.find(({ tools }) => tools === call.run) ?? main;
  }

  #makeRoom(): void {
    const { open } = this;
    const oldest = open[0];
    if (oldest === undefined || open.length < this.#host.most) return;
    this.#end(oldest, CANCELLED);
    this.#host.forgot();
  }

  #complete(run: AgentRun): void {
    this.#forget(run);
    run.completed(run.answer);
  }

  #end(run: AgentRun, ending: Ending): void {
    this.#forget(run);
    run.failed(ending);
  }

  #forget(run: AgentRun): void {
    for (const map of [this.#byId, this.#byCall]) {
      for (const [key, value] of map) if (value === run) map.delete(key);
    }
  }
}

/** The failure of a sub-agent: that of its last model call, else the text. */
function endingWith({ modelError }: AgentRun, text: string): Ending {
  if (modelError !== undefined) return { thrown: modelError, source: FROM_MODEL };
  return { thrown: new Error(text), source: FROM_RUN };
}
