import { AsyncLocalStorage } from "node:async_hooks";
import {
  AgentError,
  type EventDetails,
  failureInResult,
  type IsFailure,
  sourceMoment,
  textOfResult,
} from "../../events/door.ts";
import type { RunWriter, SafeSink, ToolCall } from "../core/door.ts";
import { type ActiveRun, carried } from "../runtime/door.ts";
import type { Response } from "./json-rpc.ts";
import type { Reporter } from "./reporter.ts";
import {
  asksPerson,
  isOfRequest,
  RpcError,
  refusedEnvelope,
  statusCodeOf,
  waitsForPerson,
} from "./rpc-error.ts";
import { Waits } from "./waits.ts";

/** The call whose handler is running. */
export const handledCall = new AsyncLocalStorage<ServerCall>();

/** The run of a server's call, and the writer of its events. */
export interface ServerScope {
  readonly run: ActiveRun;
  readonly sink: SafeSink;
  readonly writer: RunWriter;
}

/** One `tools/call` on a server: a run with a single tool call. */
export class ServerCall implements ToolCall {
  readonly tool: string;
  readonly toolUseId: string;
  readonly startedMs: number = performance.now();
  readonly waits: Waits;
  details: EventDetails;
  /** Fires when the SDK heeds a cancellation. `undefined`: not known. */
  signal: AbortSignal | undefined;
  readonly #scope: ServerScope;
  readonly #run: ActiveRun;
  /** Its start, for finding the source of an error. */
  readonly since = sourceMoment();
  #isOpen = true;
  /** The error of the handler. The response only has its text. */
  #thrown: { readonly error: unknown } | undefined;

  constructor(scope: ServerScope, tool: string, details: EventDetails) {
    const { run, sink, writer } = scope;
    this.tool = tool;
    this.toolUseId = writer.newId();
    this.details = details;
    this.#scope = scope;
    this.#run = { ...run, toolUseId: this.toolUseId };
    this.waits = new Waits(writer, sink.contentNeed, this.toolUseId);
  }

  start(input: unknown): void {
    const { sink, writer } = this.#scope;
    writer.toolStarted(this, sink.contentNeed === "none" ? null : (input ?? null));
  }

  /** Runs the handler inside the span of the call, as code of that call. */
  within<T>(work: () => T): T {
    const { sink } = this.#run;
    return handledCall.run(this, () =>
      carried(sink, { tool_use_id: this.toolUseId }, this.#run, work),
    );
  }

  noteThrown(error: unknown): void {
    this.#thrown = { error };
  }

  /** The handler responded. */
  answered(response: Response, isFailure: IsFailure | undefined, reporter: Reporter): void {
    if (!this.#close()) return;
    const { error, result } = response;
    const { sink, writer } = this.#scope;
    if (error !== undefined) {
      this.#failed(error);
      return;
    }
    const failure = failureInResult(result, this, isFailure, reporter.report);
    if (failure === undefined) {
      writer.toolCompleted(this, sink.contentNeed === "none" ? null : result);
    } else if (this.#thrown === undefined || result?.isError !== true) {
      writer.toolReturnedFailure(this, failure);
    } else {
      const thrown = this.#thrown.error;
      writer.toolFailed(
        this,
        { thrown, source: writer.sourceOf(thrown, this) },
        textOfResult(result),
      );
    }
    writer.completed();
  }

  /** The caller cancelled the call or disconnected. */
  cancelled(): void {
    if (!this.#close()) return;
    const thrown = AgentError.cancelled();
    this.#scope.writer.toolCut(this, thrown);
    this.#scope.writer.failed({ thrown, source: { origin: "run" } });
  }

  /** The response is an error. */
  #failed(error: NonNullable<Response["error"]>): void {
    const code = statusCodeOf(error);
    if (code !== undefined) {
      this.details = { ...this.details, mcp: { ...this.details.mcp, status_code: code } };
    }
    const { writer } = this.#scope;
    const thrown = this.#thrown === undefined ? new RpcError(error) : this.#thrown.error;
    const envelope = this.#thrown === undefined ? refusedEnvelope(error) : undefined;
    const failure = { thrown, source: writer.sourceOf(thrown, this), envelope };
    const asks = asksPerson(error);
    if (asks) writer.toolCut(this, waitsForPerson(thrown));
    else writer.toolFailed(this, failure, null);
    if (asks || isOfRequest(error)) writer.completed();
    else writer.failed(failure);
  }

  #close(): boolean {
    if (!this.#isOpen) return false;
    this.#isOpen = false;
    this.waits.closeAll();
    return true;
  }
}
