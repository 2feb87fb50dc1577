import {
  AgentError,
  type DecisionDetails,
  failureInResult,
  type IsFailure,
  RecentMap,
  type ToolFailure,
} from "../../events/door.ts";
import { type RunWriter, type ToolCall, textOf } from "../core/door.ts";
import type { HeldEvent, HeldEvents } from "./held-events.ts";
import { MCP_PREFIX } from "./sdk.ts";

/** How long the start of a call is held for a decision, in ms. The SDK asks at once or not at all. */
const UNDECIDED_MS = 2_000;
/** Minimum number of denied calls that a run remembers. */
const MOST_DENIED = 100;

/** The end of a call as a hook reports it, before the message with the result. */
export interface HookEnd {
  readonly durationMs: number | undefined;
  /** Content. */
  readonly output: unknown;
  /** Why it failed. */
  readonly error: string | undefined;
  readonly isInterrupt: boolean;
}

/** An open tool call. */
export interface OpenTool extends ToolCall {
  readonly run: ToolCalls;
  /** Content. */
  input: unknown;
  /** `announced`: in the model's answer. `asking`: a person or hook decides. */
  state: "announced" | "asking" | "started";
  /** Number of hooks and `canUseTool` calls without an answer. */
  askers: number;
  held: HeldEvent | undefined;
  startedMs: number;
  durationMs: number | undefined;
  end: HookEnd | undefined;
  isDecided: boolean;
  /** Whether an answer of the model has it. */
  isShown: boolean;
  /** Whether the hook `PreToolUse` was called. */
  hasBegun: boolean;
}

/** Options that the tool calls of a query share. */
export interface ToolCallOptions {
  readonly isFailure: IsFailure | undefined;
  readonly readsContent: boolean;
  readonly onError: (error: unknown) => void;
}

/** The tool calls of one run. The writer's book has the open ones, also those that have not started. */
export class ToolCalls {
  readonly writer: RunWriter<void, OpenTool>;
  readonly #held: HeldEvents;
  readonly #options: ToolCallOptions;
  readonly #denied = new RecentMap<OpenTool>(MOST_DENIED);
  /** Number of calls that were made. */
  made = 0;

  readonly #onEnd: () => void;

  /** @param onEnd called when a call ended. The next model call may start. */
  constructor(
    writer: RunWriter<void, OpenTool>,
    held: HeldEvents,
    options: ToolCallOptions,
    onEnd: () => void,
  ) {
    this.#onEnd = onEnd;
    this.writer = writer;
    this.#held = held;
    this.#options = options;
  }

  /** The last call with that ID that was denied. Several sources may report the denial. */
  denied(toolUseId: string): OpenTool | undefined {
    return this.#denied.get(toolUseId);
  }

  /** A call is known. It has not started. */
  begin(toolUseId: string, tool: string, input: unknown): OpenTool {
    const call: OpenTool = {
      toolUseId,
      tool,
      key: undefined,
      run: this,
      input,
      state: "announced",
      askers: 0,
      held: undefined,
      startedMs: performance.now(),
      durationMs: undefined,
      end: undefined,
      isDecided: false,
      isShown: false,
      hasBegun: false,
    };
    this.writer.begin(call);
    return call;
  }

  /** Holds the call's start for a possible decision. */
  starting(call: OpenTool): void {
    if (call.state !== "announced") return;
    call.startedMs = performance.now();
    call.state = "started";
    call.held = this.#held.hold(() => this.#sendStart(call), UNDECIDED_MS);
  }

  started(call: OpenTool): void {
    call.held?.release();
    if (call.state === "started") return;
    call.state = "started";
    call.startedMs = performance.now();
    this.#sendStart(call);
  }

  /** A person or hook is asked. The call starts after the decision. */
  asked(call: OpenTool): void {
    if (call.held?.isOpen === true) {
      call.held.drop();
      call.state = "asking";
    } else if (call.state === "announced") call.state = "asking";
  }

  /** The decision takes long. */
  waits(call: OpenTool): void {
    if (this.writer.open.has(call)) this.writer.toolAsked(call);
  }

  approve(call: OpenTool, decision: DecisionDetails): void {
    if (call.isDecided) return;
    call.isDecided = true;
    this.asked(call);
    this.writer.toolApproved(call, decision);
    this.started(call);
  }

  deny(call: OpenTool, reason: string, decision: DecisionDetails): void {
    if (call.isDecided) return;
    call.isDecided = true;
    this.asked(call);
    // The decision took longer than the start was held.
    if (call.state === "started") this.cut(call, AgentError.cancelled());
    this.#close(call);
    this.#denied.set(call.toolUseId, call);
    this.writer.toolDenied(call, this.#options.readsContent ? reason : "", decision);
  }

  /** @param content for the model. */
  returned(call: OpenTool, content: unknown, isError: boolean, output: unknown): void {
    this.started(call);
    this.#close(call);
    this.made += 1;
    const result = {
      content: Array.isArray(content) ? content : [{ type: "text", text: textOf(content) ?? "" }],
      isError,
      output,
    };
    const { isFailure, onError, readsContent } = this.#options;
    const failure = failureInResult(result, call, isFailure, onError);
    call.durationMs = call.end?.durationMs;
    if (failure === undefined) this.writer.toolCompleted(call, readsContent ? content : null);
    else this.writer.toolReturnedFailure(call, this.#failure(call, failure));
  }

  /** Uses the hook's error text for operators, except for MCP tools, whose texts are content. */
  #failure({ end, tool }: OpenTool, failure: ToolFailure): ToolFailure {
    const error =
      end?.error === undefined || tool.startsWith(MCP_PREFIX) ? failure.error : end.error;
    return { ...failure, error };
  }

  cut(call: OpenTool, error: AgentError): void {
    this.#close(call);
    // A call that did not start has no events.
    if (call.state !== "started") return;
    call.held?.release();
    this.made += 1;
    this.writer.toolCut(call, error);
  }

  /** The run ended. Calls whose end a hook reported end as reported. */
  end(error: AgentError): void {
    for (const call of this.writer.open) {
      const { end } = call;
      if (end === undefined || end.isInterrupt) this.cut(call, error);
      else this.ended(call, end);
    }
  }

  /** Ends the call as a hook reported. */
  ended(call: OpenTool, { error, output }: HookEnd): void {
    this.returned(call, error ?? output, error !== undefined, output);
  }

  #close(call: OpenTool): void {
    this.writer.open.delete(call);
    this.#onEnd();
  }

  #sendStart(call: OpenTool): void {
    this.writer.toolStarted(call, this.#options.readsContent ? call.input : null);
  }
}
