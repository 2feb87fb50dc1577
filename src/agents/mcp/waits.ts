import {
  AgentError,
  type ContentNeed,
  type EventDetails,
  FROM_RUN,
  type McpDetails,
} from "../../events/door.ts";
import type { Fields, RunWriter, Step } from "../core/door.ts";
import { RpcError, statusCodeOf } from "./rpc-error.ts";

/** Server requests during a call, and the names of their steps. */
const STEP_NAMES: ReadonlyMap<string, string> = new Map([
  ["elicitation/create", "elicitation"],
  ["sampling/createMessage", "sampling"],
]);

/** Maximum number of open waits of one call. Further ones have no step. */
const MOST_WAITS = 100;

/** Answers of a person, by the protocol's word. SDK 1.13 has another word for a refusal. */
const ACTIONS: ReadonlyMap<unknown, McpDetails["elicitation"]> = new Map([
  ["accept", "accept"],
  ["decline", "decline"],
  ["reject", "decline"],
  ["cancel", "cancel"],
]);

/** The answer to a request of a server. */
export interface WaitAnswer {
  readonly result?: Fields | undefined;
  readonly error?: Fields | undefined;
}

interface Wait extends Step {
  details: EventDetails;
}

/**
 * Requests that an open tool call waits for: a question to a person, or a model call of the client. Each is a step
 * inside the call, neither a pause of the run nor a failure.
 */
export class Waits {
  readonly #writer: RunWriter;
  readonly #need: ContentNeed;
  readonly #toolUseId: string;
  readonly #open = new Map<string, Wait>();

  /** @param toolUseId the call that waits. */
  constructor(writer: RunWriter, need: ContentNeed, toolUseId: string) {
    this.#writer = writer;
    this.#need = need;
    this.#toolUseId = toolUseId;
  }

  /**
   * Opens the step of a request.
   *
   * @param key identifies the request within the call.
   * @returns the step's ID. `undefined`: the request has no step.
   */
  open(key: string, method: string, params: Fields | undefined, requestId?: string) {
    const step = STEP_NAMES.get(method);
    if (step === undefined || this.#open.size >= MOST_WAITS || this.#open.has(key)) {
      return undefined;
    }
    const mcp: McpDetails = {
      method,
      ...(requestId === undefined ? {} : { request_id: requestId }),
    };
    const wait: Wait = {
      stepId: this.#writer.newId(),
      step,
      startedMs: performance.now(),
      details: { tool_use_id: this.#toolUseId, mcp },
    };
    this.#open.set(key, wait);
    this.#writer.stepStarted(wait, this.#need === "all" ? params : undefined);
    return wait.stepId;
  }

  close(key: string, { error, result }: WaitAnswer): void {
    const wait = this.#open.get(key);
    if (wait === undefined) return;
    this.#open.delete(key);
    if (error !== undefined) {
      const code = statusCodeOf(error);
      if (code !== undefined) note(wait, { status_code: code });
      this.#writer.stepFailed(wait, { thrown: new RpcError(error), source: FROM_RUN });
      return;
    }
    const action = ACTIONS.get(result?.action);
    if (wait.step === "elicitation" && action !== undefined) note(wait, { elicitation: action });
    this.#writer.stepCompleted(wait, this.#need === "all" ? result : undefined);
  }

  /** The call ended before its waits. */
  closeAll(): void {
    for (const wait of this.#open.values()) {
      this.#writer.stepFailed(wait, { thrown: AgentError.cancelled(), source: FROM_RUN });
    }
    this.#open.clear();
  }
}

function note(wait: Wait, mcp: McpDetails): void {
  wait.details = { ...wait.details, mcp: { ...wait.details.mcp, ...mcp } };
}
