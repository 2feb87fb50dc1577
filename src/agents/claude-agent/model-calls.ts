import { AgentError, type Instant, now, toMessages } from "../../events/door.ts";
import {
  type Fields,
  fieldsOf,
  listOf,
  type ModelCall,
  type ModelRequest,
  type RunWriter,
  textOf,
} from "../core/door.ts";

/** An open model call. */
interface OpenModelCall {
  readonly call: ModelCall;
  /** The API's ID of the answer, after its first part. */
  messageId: string | undefined;
  model: string | undefined;
  firstMs: number | undefined;
  /** When the last part of the answer arrived. */
  lastAt: Instant | undefined;
  lastMs: number | undefined;
  stopReason: string | undefined;
  /** Whether a stop cut the answer off. */
  isCut: boolean;
  /** Content. */
  readonly blocks: unknown[];
}

const REQUEST: ModelRequest = { provider: "anthropic" };

/** Options for the content of model calls. */
export interface ModelContent {
  readonly isRead: boolean;
  /** Content. */
  readonly instructions: unknown;
}

/**
 * The model calls of one run. The SDK sends each content block of an answer as a message. Messages with the same
 * `message.id` are one call. Their token counts are not final, so only the run has usage, from the result.
 */
export class ModelCalls {
  readonly #writer: RunWriter;
  readonly #content: ModelContent;
  #open: OpenModelCall | undefined;
  /** Content: input for the next model call. */
  #asked: unknown[] = [];
  /** Time of the run's last activity. The next model call starts after it. */
  #sinceAt: Instant = now();
  #sinceMs = performance.now();
  /** The requested model, if it is known. */
  model: string | undefined;
  /** Sub-agents only: the model of the agent above, which they ask unless their definition names another one. */
  above: string | undefined;
  /** Number of calls. */
  requests = 0;

  constructor(writer: RunWriter, content: ModelContent) {
    this.#writer = writer;
    this.#content = content;
  }

  /** Adds input for the next model call. Content. */
  addInput(message: unknown): void {
    if (this.#content.isRead) this.#asked.push(message);
    this.touch();
  }

  /** Sets the earliest start of the next call, used if its real start is not known. */
  touch(): void {
    this.#sinceAt = now();
    this.#sinceMs = performance.now();
  }

  /** The SDK sends a request. */
  requested(): void {
    if (this.#open?.messageId === undefined && this.#open !== undefined) return;
    this.answered();
    this.touch();
    this.#begin();
  }

  /**
   * A part of an answer arrived.
   *
   * @param isCut whether it is the last one, because a stop cut the answer off.
   */
  message(message: Fields, isCut: boolean): void {
    const id = textOf(message.id);
    const open = this.#openFor(id, textOf(message.model));
    open.isCut ||= isCut;
    open.lastAt = now();
    open.lastMs = performance.now();
    open.firstMs ??= open.lastMs;
    open.model = textOf(message.model) ?? open.model;
    open.stopReason = textOf(message.stop_reason) ?? open.stopReason;
    if (!this.#content.isRead) return;
    for (const block of listOf(message.content) ?? []) open.blocks.push(block);
  }

  /** An event of the API's stream. The SDK passes it on with `includePartialMessages`. */
  streamed(event: Fields): void {
    switch (event.type) {
      case "message_start": {
        const message = fieldsOf(event.message);
        const open = this.#openFor(textOf(message?.id), textOf(message?.model));
        open.firstMs ??= performance.now();
        open.model = textOf(message?.model) ?? open.model;
        return;
      }
      case "message_delta":
        if (this.#open !== undefined) {
          this.#open.stopReason =
            textOf(fieldsOf(event.delta)?.stop_reason) ?? this.#open.stopReason;
        }
        return;
      case "message_stop":
        if (this.#open?.messageId === undefined) return;
        this.#open.lastAt = now();
        this.#open.lastMs = performance.now();
        this.answered();
        return;
      default:
    }
  }

  #openFor(id: string | undefined, answeredBy: string | undefined): OpenModelCall {
    const open = this.#open;
    if (open !== undefined && (open.messageId === undefined || open.messageId === id)) {
      open.messageId = id ?? "";
      return open;
    }
    this.answered();
    const { above } = this;
    // `claude-sonnet-4-5[1m]` is answered by `claude-sonnet-4-5-20250929`.
    const [name = ""] = above?.split("[") ?? [];
    if (name !== "" && answeredBy?.startsWith(name) === true) this.model = above;
    const begun = this.#begin();
    begun.messageId = id ?? "";
    return begun;
  }

  #begin(): OpenModelCall {
    const { model } = this;
    const call = { modelCallId: this.#writer.newId(), model, startedMs: this.#sinceMs };
    const open: OpenModelCall = {
      call,
      messageId: undefined,
      model: undefined,
      firstMs: undefined,
      lastAt: undefined,
      lastMs: undefined,
      stopReason: undefined,
      isCut: false,
      blocks: [],
    };
    this.requests += 1;
    const { instructions, isRead } = this.#content;
    const content = {
      input: isRead ? toMessages(this.#asked) : undefined,
      system_instructions: isRead ? instructions : undefined,
      tools: undefined,
    };
    this.#asked = [];
    this.#writer.modelStarted(call, REQUEST, content, undefined, { at: this.#sinceAt });
    this.#open = open;
    return open;
  }

  /** Sets the finish reason, if the messages have none. */
  stopped(reason: string | undefined): void {
    if (this.#open?.messageId !== undefined) this.#open.stopReason ??= reason;
  }

  /** Ends a call whose answer is complete. A call without an answer stays open. */
  answered(): void {
    const open = this.#open;
    if (open?.lastAt === undefined || open.lastMs === undefined) return;
    this.#open = undefined;
    const { blocks, call, firstMs, lastAt, lastMs, messageId, model, stopReason } = open;
    if (open.isCut) {
      const use = { provider: REQUEST.provider, responseModel: model, responseId: messageId };
      this.#writer.modelCut(call, AgentError.cancelled(), use, { at: lastAt });
      return;
    }
    const { modelCallId, startedMs } = call;
    const message = { role: "assistant", content: blocks, stop_reason: stopReason };
    this.#writer.modelAnswered(
      { modelCallId, model: call.model, startedMs, durationMs: lastMs - startedMs },
      {
        firstOutputMs: firstMs === undefined ? undefined : firstMs - startedMs,
        responseModel: model,
        responseId: messageId,
        finishReasons: stopReason === undefined ? undefined : [stopReason],
        output: this.#content.isRead ? toMessages(message, "assistant") : undefined,
      },
      { at: lastAt },
    );
  }

  /** The call failed after its retries. */
  failed(error: Error): void {
    this.answered();
    const open = this.#open ?? this.#begin();
    this.#open = undefined;
    this.#writer.modelFailed(open.call, { thrown: error, provider: REQUEST.provider });
  }

  /** The run ended. A call without an answer is cut off. */
  end(cut: Error): void {
    this.answered();
    if (this.#open !== undefined) this.failed(cut);
  }
}
