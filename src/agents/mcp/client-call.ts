import {
  AgentError,
  type EventDetails,
  type FailureSource,
  failureInResult,
  hasName,
  type IsFailure,
  isAgentError,
  type McpDetails,
  property,
  recordSource,
  type SpanTarget,
  sourceMoment,
} from "../../events/door.ts";
import type { ToolCall } from "../core/run-parts.ts";
import type { RunWriter } from "../core/run-writer.ts";
import type { SafeSink } from "../core/safe-sink.ts";
import { type ActiveRun, carried } from "../runtime/active-run.ts";
import type { Reporter } from "./reporter.ts";
import { asksPerson, waitsForPerson } from "./rpc-error.ts";
import { Waits } from "./waits.ts";

/** Where a call stands, and who reports it. */
export interface CallPlace {
  /**
   * `run`: it is a tool call of that run. `shown`: a framework's adapter has it open as a tool call
   * already. `lone`: a run was made for it.
   */
  readonly kind: "run" | "shown" | "lone";
  readonly run: ActiveRun;
  readonly sink: SafeSink;
  readonly writer: RunWriter;
}

/** What the caller gave for a call. */
export interface GivenCall {
  readonly tool: string;
  /** The object of name and arguments, as the caller gave it. */
  readonly params: unknown;
  readonly signal: unknown;
}

/** One `tools/call` of a client, until the client has its result: also where that takes several requests. */
export class ClientCall implements ToolCall {
  readonly tool: string;
  readonly toolUseId: string;
  readonly startedMs: number = performance.now();
  readonly given: GivenCall;
  readonly waits: Waits;
  details: EventDetails;
  isOpen = true;
  #leave: (() => void) | undefined;
  readonly #since = sourceMoment();
  readonly #place: CallPlace;
  readonly #run: ActiveRun;
  readonly #target: Omit<SpanTarget, "tenant_id" | "run_id">;

  constructor(place: CallPlace, given: GivenCall, mcp: McpDetails) {
    const { kind, run, sink, writer } = place;
    const isShown = kind === "shown" && run.toolUseId !== undefined;
    const toolUseId = isShown && run.toolUseId !== undefined ? run.toolUseId : writer.newId();
    this.tool = given.tool;
    this.toolUseId = toolUseId;
    this.given = given;
    this.#place = place;
    // The name is for the adapters of frameworks alone: a call inside this one is another call.
    this.#run = { ...run, toolUseId, tool: undefined };
    this.#target = { tool_use_id: toolUseId, step_id: isShown ? run.stepId : undefined };
    this.details = {
      ...(isShown || run.toolUseId === undefined ? {} : { tool_use_id: run.toolUseId }),
      mcp,
    };
    this.waits = new Waits(writer, sink.contentNeed, toolUseId);
  }

  start(): void {
    if (this.#place.kind === "shown") return;
    const { run, sink, writer } = this.#place;
    const input = sink.contentNeed === "none" ? null : property(this.given.params, "arguments");
    this.#leave = run.whileOpen?.((error) => {
      if (this.#close()) writer.toolCut(this, error);
    });
    writer.toolStarted(this, input ?? null, undefined, run.stepId);
  }

  /** Runs code inside the span of the call, as code of its run. */
  within<T>(work: () => T, stepId?: string): T {
    const { sink } = this.#place.run;
    if (stepId === undefined) return carried(sink, this.#target, this.#run, work);
    return carried(
      sink,
      { step_id: stepId, tool_use_id: this.toolUseId },
      { ...this.#run, stepId },
      work,
    );
  }

  note(mcp: McpDetails): void {
    this.details = { ...this.details, mcp: { ...this.details.mcp, ...mcp } };
  }

  returned(result: unknown, isFailure: IsFailure | undefined, reporter: Reporter): void {
    if (!this.#close()) return;
    const { kind, sink, writer } = this.#place;
    if (kind === "shown") return;
    const failure = failureInResult(result, this, isFailure, reporter.troubled);
    if (failure !== undefined) writer.toolReturnedFailure(this, failure);
    else writer.toolCompleted(this, sink.contentNeed === "none" ? null : result);
    if (kind === "lone") writer.completed(null);
  }

  threw(thrown: unknown): void {
    if (!this.#close()) return;
    const { kind, run, writer } = this.#place;
    const own: FailureSource = { origin: "tool", tool: this.tool };
    const scope = { rootRunId: run.rootRunId, since: this.#since };
    const cut = asksPerson(thrown) ? waitsForPerson(thrown) : this.#cutBy(thrown);
    if (kind === "shown") return;
    const source = recordSource(thrown, own, scope);
    // The caller decides what its model receives of the error.
    if (cut === undefined) writer.toolFailed(this, { thrown, source }, null);
    else writer.toolCut(this, cut);
    if (kind === "lone") writer.failed({ thrown: cut ?? thrown, source });
  }

  #close(): boolean {
    if (!this.isOpen) return false;
    this.isOpen = false;
    this.#leave?.();
    this.waits.closeAll();
    return true;
  }

  /** What the caller called it off by, if it did. A time limit of the call's own is the tool's failure. */
  #cutBy(thrown: unknown): AgentError | undefined {
    const { signal } = this.given;
    if (property(signal, "aborted") !== true) return undefined;
    const reason = property(signal, "reason");
    if (isAgentError(reason)) return reason;
    return hasName(reason, TIMEOUT_NAMES) ? undefined : AgentError.cancelled({ cause: thrown });
  }
}

const TIMEOUT_NAMES: ReadonlySet<string> = new Set(["TimeoutError"]);
