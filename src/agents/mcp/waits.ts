import {
  AgentError,
  type ContentNeed,
  type EventDetails,
  FROM_RUN,
  type McpDetails,
} from "../../events/door.ts";
import type { Fields } from "../core/narrow.ts";
import type { Step } from "../core/run-parts.ts";
import type { RunWriter } from "../core/run-writer.ts";
import { RpcError, statusCodeOf } from "./rpc-error.ts";

/** The requests that a server makes while it works on a call, and the names of their steps. */
const STEP_NAMES: ReadonlyMap<string, string> = new Map([
  ["elicitation/create", "elicitation"],
  ["sampling/createMessage", "sampling"],
]);

/** Waits of one call that are open at once. Those above have no step. */
const MOST_WAITS = 100;

/** What a person did, by the word for it. SDK 1.13 has another word for a refusal. */
const ACTIONS: ReadonlyMap<unknown, McpDetails["elicitation"]> = new Map([
  ["accept", "accept"],
  ["decline", "decline"],
  ["reject", "decline"],
  ["cancel", "cancel"],
]);

/** What a request of a server was answered with. */
export interface WaitAnswer {
  readonly result?: Fields | undefined;
  readonly error?: Fields | undefined;
}

interface Wait extends Step {
  details: EventDetails;
}

/**
 * What a tool call waits for while it is open: a person who is asked something, or a model that the
 * client calls for the server. Each is a step inside the call: no pause of the run, and no failure.
 */
export class Waits {
  readonly #writer: RunWriter;
  readonly #need: ContentNeed;
  readonly #toolUseId: string | undefined;
  readonly #open = new Map<string, Wait>();

  /** @param toolUseId the call of the writer's run that waits. */
  constructor(writer: RunWriter, need: ContentNeed, toolUseId: string | undefined) {
    this.#writer = writer;
    this.#need = need;
    this.#toolUseId = toolUseId;
  }

  /**
   * Opens the step of a request.
   *
   * @param key tells it from the others of the call.
   * @returns the id of the step; `undefined` for a request that is no wait.
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
    const call = this.#toolUseId;
    const wait: Wait = {
      stepId: this.#writer.newId(),
      step,
      startedMs: performance.now(),
      details: { ...(call === undefined ? {} : { tool_use_id: call }), mcp },
    };
    this.#open.set(key, wait);
    this.#writer.stepStarted(wait, this.#need === "all" ? params : undefined);
    return wait.stepId;
  }

  has(key: string): boolean {
    return this.#open.has(key);
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

  /** The call ended before they did. */
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
