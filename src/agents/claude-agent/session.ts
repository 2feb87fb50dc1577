import { FROM_RUN, readsRows } from "../../events/door.ts";
import { type Fields, fieldsOf, listOf, newRunRef, placeIn, textOf } from "../core/door.ts";
import { cutBy } from "../runtime/door.ts";
import { AgentRun, type RunShared } from "./agent-run.ts";
import { type Decided, deniedByPolicy } from "./decisions.ts";
import {
  answerEnd,
  type Ending,
  endingOf,
  modelError,
  type ResultState,
  streamEnded,
} from "./failures.ts";
import { HeldEvents } from "./held-events.ts";
import { hasToolResult, isOfSubAgent, SessionCalls, textIn } from "./session-calls.ts";
import type { SessionRun, SessionStart } from "./session-start.ts";
import { SubAgents } from "./sub-agents.ts";
import type { OpenTool } from "./tool-calls.ts";
import { amountOf, UsageDifference } from "./usage-difference.ts";

/** Follows one `query()`. Its prompts are runs. Its sub-agents are child runs of their calls. */
export class Session {
  readonly #from: SessionStart;
  readonly #events: HeldEvents;
  readonly #shared: RunShared;
  readonly #agents: SubAgents;
  readonly #calls: SessionCalls;
  readonly #usage: UsageDifference;
  readonly #readsRows: boolean;
  #sessionId: string | undefined;
  /** Known when the first run starts. */
  #continued: SessionRun | undefined;
  #resumes: string | undefined;
  #main: AgentRun | undefined;
  /** The run started with `query()`, and its prompt has not been submitted yet. */
  #awaitsPrompt = false;
  /** Content: a prompt that arrived during a run. It belongs to this run or to the next one. */
  #nextPrompt: unknown;
  #wasInterrupted = false;
  /** HTTP status of the last request that was retried. */
  #retryStatus: number | undefined;
  #hasHooks = false;
  #runs = 0;
  #isOver = false;

  constructor(from: SessionStart) {
    this.#from = from;
    const { onError, options, sessionId, sink } = from;
    this.#sessionId = sessionId;
    this.#readsRows = readsRows(sink.contentNeed);
    this.#events = new HeldEvents(sink);
    this.#shared = {
      events: this.#events,
      content: { isRead: sink.contentNeed === "all", instructions: from.instructions },
      tools: { isFailure: options.isFailure, readsContent: sink.contentNeed !== "none", onError },
    };
    this.#usage = new UsageDifference(from.before, options.price, onError);
    this.#agents = new SubAgents({
      shared: this.#shared,
      readsRows: this.#readsRows,
      most: from.limits.openAgents,
      findCall: (id) => this.#calls.find(id),
      main: () => this.#prompt(),
      forgot: from.onForgotten,
    });
    this.#calls = new SessionCalls({
      agents: this.#agents,
      most: from.limits.openCalls,
      readsContent: this.#readsRows,
      main: () => this.#main,
      runOf: (input) => this.#runOf(input),
      wasInterrupted: () => this.#wasInterrupted,
      abortError: from.abortError,
      forgot: from.onForgotten,
    });
  }

  /** The open call with that ID, in any run. Content: the input tells calls with one ID apart. */
  findCall(toolUseId: string | undefined, input?: unknown): OpenTool | undefined {
    return this.#calls.find(toolUseId, input);
  }

  /** A hook or `canUseTool` is asked about a call. The call has not started. */
  asked(toolUseId: unknown, input: Fields): OpenTool | undefined {
    return this.#isOver ? undefined : this.#calls.asked(toolUseId, input);
  }

  /** A hook or `canUseTool` answered. Without a call's ID, its decision is sent without a call. */
  answered(toolUseId: unknown, input: Fields, decided: Decided | undefined, call?: OpenTool): void {
    if (this.#isOver) return;
    if (decided !== undefined) this.#calls.decided(toolUseId, input, decided, call);
    else if (call !== undefined) this.#calls.undecided(call);
  }

  get hasConversation(): boolean {
    return this.#sessionId !== undefined;
  }

  /** Starts the run of a prompt before the process starts. */
  begin(prompt: unknown): AgentRun {
    const main = this.#prompt(prompt);
    this.#awaitsPrompt = true;
    return main;
  }

  /** `interrupt()` was called. */
  interrupted(): void {
    if (this.#main !== undefined) this.#wasInterrupted = true;
  }

  /** A hook of the SDK was called. */
  hookCalled(input: Fields): void {
    if (this.#isOver) return;
    this.#hasHooks = true;
    this.#sessionIs(input.session_id);
    switch (input.hook_event_name) {
      case "UserPromptSubmit":
        this.#prompted(input);
        return;
      case "PreToolUse":
        this.#calls.begins(input);
        return;
      case "PostToolUse":
      case "PostToolUseFailure":
        if (this.#main !== undefined || isOfSubAgent(input)) this.#calls.ends(input);
        return;
      case "PermissionDenied":
        this.answered(input.tool_use_id, input, deniedByPolicy(textOf(input.reason) ?? ""));
        return;
      case "SubagentStart":
        this.#agents.announced(textOf(input.agent_id) ?? "", textOf(input.agent_type));
        return;
      case "SubagentStop":
        this.#agents.stopped(textOf(input.agent_id) ?? "", input.last_assistant_message);
        return;
      case "PreCompact":
        this.#runOf(input).compacting();
        return;
      case "PostCompact":
        this.#runOf(input).compacted();
        return;
      default:
    }
  }

  /** A message of the stream. */
  message(message: Fields): void {
    if (this.#isOver) return;
    this.#sessionIs(message.session_id);
    switch (message.type) {
      case "system":
        this.#systemMessage(message);
        return;
      case "assistant":
        this.#assistantMessage(message);
        return;
      case "user":
        this.#userMessage(message);
        return;
      case "stream_event":
        if (message.parent_tool_use_id === null || message.parent_tool_use_id === undefined) {
          this.#prompt().model.streamed(fieldsOf(message.event) ?? {});
        }
        return;
      case "tool_progress": {
        const call = this.findCall(textOf(message.tool_use_id));
        if (call !== undefined) call.run.started(call);
        return;
      }
      case "conversation_reset":
        this.#usage.reset();
        return;
      case "result":
        this.#result(message);
        return;
      default:
    }
  }

  /**
   * The stream ended.
   *
   * @param thrown by the SDK. `undefined`: it ended without an error.
   * @param wasClosed whether the reader or `close()` ended it.
   */
  ended(thrown: unknown, wasClosed: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // Without this, a process that failed before its first prompt would have no run.
    if (this.#runs === 0 && thrown !== undefined && !wasClosed) this.#prompt();
    if (this.#main !== undefined || this.#agents.open.length > 0) {
      const ending = streamEnded(thrown, wasClosed, this.#from.abortError());
      this.#agents.end({ thrown: cutBy(ending.thrown), source: FROM_RUN });
      this.#main?.failed(ending);
      this.#main = undefined;
      this.#remember(undefined);
    }
    this.#events.releaseAll();
    this.#from.onEnd();
  }

  #prompted(input: Fields): void {
    if (this.#awaitsPrompt) this.#awaitsPrompt = false;
    else if (this.#main === undefined) this.#prompt(input.prompt);
    else this.#nextPrompt = input.prompt;
  }

  /** The open run, or a new one. */
  #prompt(asked: unknown = this.#nextPrompt): AgentRun {
    const known = this.#main;
    if (known !== undefined) return known;
    const { above, agent, model, continued, tenantId } = this.#from;
    if (this.#continued === undefined) {
      this.#continued = continued(this.#sessionId);
      this.#resumes = this.#continued.runId;
    }
    const { subject } = this.#continued;
    const outer = { rootRunId: above?.rootRunId, threadId: above?.threadId, subject };
    const origin = { tenantId, threadId: this.#sessionId, outer };
    const run = new AgentRun(this.#shared, newRunRef(origin, this.#from.onError));
    this.#main = run;
    this.#nextPrompt = undefined;
    this.#runs += 1;
    run.model.model = model;
    run.started(
      {
        agent,
        ...placeIn(above),
        resumedFromRunId: this.#resumes,
      },
      asked,
      this.#readsRows,
    );
    this.#resumes = undefined;
    this.#remember(run);
    return run;
  }

  /** @param run that the next query resumes. `undefined`: the last run has ended, so there is nothing to resume. */
  #remember(run: AgentRun | undefined): void {
    const last = { runId: run?.ref.runId, subject: this.#continued?.subject };
    if (this.#sessionId !== undefined) this.#from.onRun(this.#sessionId, last);
  }

  #sessionIs(given: unknown): void {
    const sessionId = textOf(given);
    if (sessionId === undefined || sessionId === this.#sessionId) return;
    this.#sessionId = sessionId;
    this.#usage.continues(this.#from.totalsOf(sessionId));
    if (this.#main !== undefined) this.#remember(this.#main);
  }

  /** The run of a hook's input, or of a message. */
  #runOf(input: Fields): AgentRun {
    if (!isOfSubAgent(input)) return this.#prompt();
    const agentId = textOf(input.agent_id);
    const toolUseId = textOf(input.parent_tool_use_id);
    const type = textOf(input.agent_type) ?? textOf(input.subagent_type);
    return this.#agents.of(agentId, toolUseId, type);
  }

  #systemMessage(message: Fields): void {
    switch (message.subtype) {
      case "init": {
        const { model } = this.#prompt();
        model.model = textOf(message.model) ?? this.#from.model;
        // The first model call does not include the start of the process.
        model.touch();
        return;
      }
      case "status":
        if (message.status === "requesting") this.#prompt().model.requested();
        else if (message.compact_result === "failed") {
          const text = textOf(message.compact_error) ?? "the compaction failed";
          this.#main?.compacted({ thrown: new Error(text), source: FROM_RUN });
        }
        return;
      case "api_retry":
        this.#retryStatus = amountOf(message.error_status);
        return;
      case "compact_boundary":
        this.#main?.compacted();
        return;
      case "permission_denied": {
        const decided = deniedByPolicy(textOf(message.message) ?? "");
        this.answered(message.tool_use_id, message, decided);
        return;
      }
      case "task_started":
        this.#agents.taskStarted(message);
        return;
      case "task_updated":
      case "task_notification":
        this.#agents.taskChanged(message);
        return;
      default:
    }
  }

  #assistantMessage(message: Fields): void {
    const run = this.#runOf(message);
    const answer = fieldsOf(message.message) ?? {};
    const blocks = listOf(answer.content) ?? [];
    const text = textIn(blocks);
    const word = textOf(message.error);
    const status = this.#retryStatus;
    this.#retryStatus = undefined;
    const ended = answerEnd(message);
    if (ended !== undefined) run.model.stopped(ended);
    if (word !== undefined && word !== "max_output_tokens") {
      // The provider answered a refused request.
      const said = text ?? word;
      const error = ended === undefined ? modelError(word, status, said) : new Error(said);
      if (ended === undefined) run.model.failed(error);
      run.modelError = error;
      return;
    }
    // Text of the SDK itself, such as the response to a command.
    if (answer.model === "<synthetic>") return;
    run.modelError = undefined;
    run.model.message(answer, message.aborted === true);
    run.answer = text ?? run.answer;
    for (const block of blocks) {
      const fields = fieldsOf(block);
      if (fields?.type === "tool_use") this.#calls.announced(fields, message, this.#hasHooks);
    }
  }

  #userMessage(message: Fields): void {
    const inner = fieldsOf(message.message);
    // After a limit, the SDK still sends the results of the last calls. They start no prompt.
    if (this.#main === undefined && hasToolResult(inner) && !isOfSubAgent(message)) return;
    const run = this.#runOf(message);
    run.modelError = undefined;
    const ended = answerEnd(message);
    if (ended !== undefined) run.model.stopped(ended);
    run.model.addInput(inner);
    for (const block of listOf(inner?.content) ?? []) {
      const fields = fieldsOf(block);
      if (fields?.type === "tool_result") this.#calls.returned(fields, message);
    }
  }

  #result(result: Fields): void {
    const main = this.#prompt();
    this.#calls.refused(result.permission_denials);
    const ending = endingOf(result, this.#resultState(main));
    this.#agents.promptEnded(ending && { thrown: cutBy(ending.thrown), source: FROM_RUN });
    main.usage = this.#usage.take(result, !main.hasOthers);
    const { totals } = this.#usage;
    if (totals !== undefined && this.#sessionId !== undefined) {
      this.#from.onTotals(this.#sessionId, totals);
    }
    main.model.stopped(textOf(result.stop_reason));
    this.#main = undefined;
    this.#awaitsPrompt = false;
    this.#wasInterrupted = false;
    this.#finish(main, result, ending);
    this.#events.releaseAll();
  }

  #finish(main: AgentRun, result: Fields, ending: Ending | undefined): void {
    const deferred = fieldsOf(result.deferred_tool_use);
    const waitsFor = textOf(deferred?.id);
    if (ending === undefined && waitsFor !== undefined) {
      main.paused(waitsFor, this.#readsRows ? deferred : null);
      this.#resumes = main.ref.runId;
      return;
    }
    if (ending !== undefined) main.failed(ending);
    else main.completed(result.result);
    this.#remember(undefined);
  }

  #resultState(main: AgentRun): ResultState {
    return {
      maxTurns: this.#from.maxTurns,
      maxBudgetUsd: this.#from.maxBudgetUsd,
      costAtStart: this.#usage.costAtStart,
      wasInterrupted: this.#wasInterrupted,
      modelError: main.modelError,
      abortError: this.#from.abortError(),
    };
  }
}
