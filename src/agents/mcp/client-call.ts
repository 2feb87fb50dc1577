import {
  AgentError,
  type EventDetails,
  hasName,
  type IsFailure,
  isAgentError,
  type McpDetails,
  property,
  type SpanTarget,
  sourceMoment,
} from "../../events/door.ts";
import type { RunWriter, SafeSink, ToolCall } from "../core/door.ts";
import { type ActiveRun, carried } from "../runtime/door.ts";
import type { Reporter } from "./reporter.ts";
import { asksPerson, refusedEnvelope, waitsForPerson } from "./rpc-error.ts";
import { Waits } from "./waits.ts";

/** The run of a call, and the writer of its events. */
export type CallScope = {
  readonly run: ActiveRun;
  readonly sink: SafeSink;
  readonly writer: RunWriter;
} & (
  | {
      /** `run`: a tool call of that run. `lone`: a run was made for the call. */
      readonly kind: "run" | "lone";
    }
  | {
      /** A framework's adapter already reports the call as the tool call with this ID. */
      readonly kind: "shown";
      readonly toolUseId: string;
    }
);

/** The arguments of a call. */
export interface GivenCall {
  readonly tool: string;
  /** The object with name and arguments. */
  readonly params: unknown;
  readonly signal: unknown;
}

/** One `tools/call` of a client until its result. It may take several requests. */
export class ClientCall implements ToolCall {
  readonly tool: string;
  readonly toolUseId: string;
  readonly startedMs: number = performance.now();
  readonly given: GivenCall;
  readonly waits: Waits;
  details: EventDetails;
  isOpen = true;
  #leave: (() => void) | undefined;
  /** Its start, for finding the source of an error. */
  readonly since = sourceMoment();
  readonly #scope: CallScope;
  readonly #run: ActiveRun;
  readonly #target: Omit<SpanTarget, "tenant_id" | "run_id">;

  constructor(scope: CallScope, given: GivenCall, mcp: McpDetails) {
    const { run, sink, writer } = scope;
    const isShown = scope.kind === "shown";
    const toolUseId = scope.kind === "shown" ? scope.toolUseId : writer.newId();
    this.tool = given.tool;
    this.toolUseId = toolUseId;
    this.given = given;
    this.#scope = scope;
    // Only framework adapters use `tool`. An MCP call inside this call is another call.
    const around = run.callKey ?? run.toolUseId;
    const own = isShown ? (around ?? toolUseId) : toolUseId;
    this.#run = { ...run, toolUseId, callKey: isShown ? run.callKey : undefined, tool: undefined };
    this.#target = { tool_use_id: own, step_id: isShown ? run.stepId : undefined };
    this.details = {
      ...(isShown || around === undefined ? {} : { tool_use_id: around }),
      mcp,
    };
    this.waits = new Waits(writer, sink.contentNeed, own);
  }

  start(): void {
    if (this.#scope.kind === "shown") return;
    const { run, sink, writer } = this.#scope;
    const input = sink.contentNeed === "none" ? null : property(this.given.params, "arguments");
    this.#leave = run.whileOpen?.((error) => {
      if (this.#close()) writer.toolCut(this, error);
    });
    writer.toolStarted(this, input ?? null, undefined, run.stepId);
  }

  /** Runs code inside the span of the call, as code of that call. */
  within<T>(work: () => T, stepId?: string): T {
    const { sink } = this.#scope.run;
    if (stepId === undefined) return carried(sink, this.#target, this.#run, work);
    return carried(sink, { ...this.#target, step_id: stepId }, { ...this.#run, stepId }, work);
  }

  note(mcp: McpDetails): void {
    this.details = { ...this.details, mcp: { ...this.details.mcp, ...mcp } };
  }

  returned(result: unknown, isFailure: IsFailure | undefined, reporter: Reporter): void {
    if (!this.#close()) return;
    const { kind, sink, writer } = this.#scope;
    if (kind === "shown") return;
    const shown = sink.contentNeed === "none" ? null : result;
    writer.toolReturned(this, result, shown, { isFailure, onError: reporter.report });
    if (kind === "lone") writer.completed();
  }

  threw(thrown: unknown): void {
    if (!this.#close()) return;
    const { kind, writer } = this.#scope;
    const stop = asksPerson(thrown) ? undefined : this.#cutBy(thrown);
    const cut = asksPerson(thrown) ? waitsForPerson(thrown) : stop;
    if (kind === "shown") return;
    const source = writer.sourceOf(thrown, this, stop);
    // The text that the model receives is not known here.
    const envelope = refusedEnvelope(thrown);
    if (cut === undefined) writer.toolFailed(this, { thrown, source, envelope }, null);
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

  /** The abort of the caller, if it ended the call. A timeout of the call itself is a failure of the tool. */
  #cutBy(thrown: unknown): AgentError | undefined {
    const { signal } = this.given;
    if (property(signal, "aborted") !== true) return undefined;
    const reason = property(signal, "reason");
    if (isAgentError(reason)) return reason;
    return hasName(reason, TIMEOUT_NAMES) ? undefined : AgentError.cancelled({ cause: thrown });
  }
}

const TIMEOUT_NAMES: ReadonlySet<string> = new Set(["TimeoutError"]);
