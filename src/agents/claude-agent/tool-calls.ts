import {
  AgentError,
  type DecisionDetails,
  failureInResult,
  type IsFailure,
  RecentMap,
  type ToolFailure,
} from "../../events/door.ts";
import { textOf } from "../core/narrow.ts";
import type { ToolCall } from "../core/run-parts.ts";
import type { RunWriter } from "../core/run-writer.ts";
import type { HeldEvent, HeldEvents } from "./held-events.ts";
import { MCP_PREFIX } from "./sdk.ts";

/** How long a call may be about to be decided, in ms: the SDK asks at once, or not at all. */
const UNDECIDED_MS = 500;
/** Denied calls of a run that are remembered at least. */
const MOST_DENIED = 100;

/** What a hook says at the end of a call, before the message with the result. */
export interface HookEnd {
  readonly durationMs: number | undefined;
  /** Content. */
  readonly output?: unknown;
  /** Why it failed. */
  readonly error?: string | undefined;
  readonly isInterrupt?: boolean | undefined;
}

/** A call of a tool that has not ended. */
export interface OpenTool {
  readonly toolUseId: string;
  readonly tool: string;
  readonly run: ToolCalls;
  /** Content. */
  input: unknown;
  /** `announced`: the model asks for it. `asking`: a person or hook decides. */
  state: "announced" | "asking" | "started";
  /** Hooks, and `canUseTool`, that are asked about it and have not answered. */
  askers: number;
  held: HeldEvent | undefined;
  startedMs: number;
  end: HookEnd | undefined;
  isDecided: boolean;
}

/** What calls of a query share. */
export interface ToolCallOptions {
  readonly isFailure: IsFailure | undefined;
  readonly readsContent: boolean;
  readonly onError: (error: unknown) => void;
}

/** The tool calls of one run. */
export class ToolCalls {
  readonly writer: RunWriter;
  readonly #held: HeldEvents;
  readonly #options: ToolCallOptions;
  readonly #open = new Map<string, OpenTool>();
  readonly #denied = new RecentMap<true>(MOST_DENIED);
  /** Number of calls that were made. */
  made = 0;

  readonly #onEnd: () => void;

  /** @param onEnd called when a call is over: the model may be asked again. */
  constructor(writer: RunWriter, held: HeldEvents, options: ToolCallOptions, onEnd: () => void) {
    this.#onEnd = onEnd;
    this.writer = writer;
    this.#held = held;
    this.#options = options;
  }

  get(toolUseId: string | undefined): OpenTool | undefined {
    return toolUseId === undefined ? undefined : this.#open.get(toolUseId);
  }

  /** Whether that call was denied: more than one of those who know it may say so. */
  wasDenied(toolUseId: string): boolean {
    return this.#denied.get(toolUseId) === true;
  }

  get size(): number {
    return this.#open.size;
  }

  get oldest(): OpenTool | undefined {
    return this.#open.values().next().value;
  }

  /** The model asks for a call. */
  announced(toolUseId: string, tool: string, input: unknown): OpenTool {
    const known = this.#open.get(toolUseId);
    if (known !== undefined) return known;
    const call: OpenTool = {
      toolUseId,
      tool,
      run: this,
      input,
      state: "announced",
      askers: 0,
      held: undefined,
      startedMs: performance.now(),
      end: undefined,
      isDecided: false,
    };
    this.#open.set(toolUseId, call);
    return call;
  }

  /** Holds the call's start until a decision about it is known. */
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

  /** A person or hook is asked: until the decision, the call has not begun. */
  asked(call: OpenTool): void {
    if (call.held?.isOpen === true) {
      call.held.drop();
      call.state = "asking";
    } else if (call.state === "announced") call.state = "asking";
  }

  approved(call: OpenTool, decision: DecisionDetails): void {
    if (call.isDecided) return;
    call.isDecided = true;
    this.asked(call);
    this.writer.toolApproved(call, decision);
    this.started(call);
  }

  denied(call: OpenTool, reason: string, decision: DecisionDetails): void {
    if (call.isDecided) return;
    call.isDecided = true;
    this.asked(call);
    // It took so long to decide that the call seemed to have begun.
    if (call.state === "started") this.cut(call, AgentError.cancelled());
    this.#close(call);
    this.#denied.set(call.toolUseId, true);
    this.writer.toolDenied(call, this.#options.readsContent ? reason : "", decision);
  }

  /** @param content as the model receives it. */
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
    const timed = this.#timed(call);
    if (failure === undefined) this.writer.toolCompleted(timed, readsContent ? content : null);
    else this.writer.toolReturnedFailure(timed, this.#failure(call, failure));
  }

  /** The tool's own words are the operator's only where the SDK made the error: those of a server are content. */
  #failure({ end, tool }: OpenTool, failure: ToolFailure): ToolFailure {
    const error =
      end?.error === undefined || tool.startsWith(MCP_PREFIX) ? failure.error : end.error;
    return { ...failure, error };
  }

  cut(call: OpenTool, error: AgentError): void {
    this.#close(call);
    // A call that was not allowed to begin has no events.
    if (call.state !== "started") return;
    call.held?.release();
    this.made += 1;
    this.writer.toolCut(call, error);
  }

  /** The run is over. Calls whose end only a hook told have that end. */
  end(error: AgentError): void {
    for (const call of [...this.#open.values()]) {
      const { end } = call;
      if (end === undefined || end.isInterrupt === true) this.cut(call, error);
      else this.ended(call, end);
    }
  }

  /** The call has the end that a hook told. */
  ended(call: OpenTool, { error, output }: HookEnd): void {
    this.returned(call, error ?? output, error !== undefined, output);
  }

  #close({ toolUseId }: OpenTool): void {
    this.#open.delete(toolUseId);
    this.#onEnd();
  }

  #sendStart(call: OpenTool): void {
    this.writer.toolStarted(call, this.#options.readsContent ? call.input : null);
  }

  #timed(call: OpenTool): ToolCall {
    const { end, startedMs, tool, toolUseId } = call;
    return { toolUseId, tool, startedMs, durationMs: end?.durationMs };
  }
}
