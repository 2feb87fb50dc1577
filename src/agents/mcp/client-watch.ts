import { AsyncLocalStorage } from "node:async_hooks";
import { currentRunContext } from "../../bridge/door.ts";
import { fieldsOf, textOf } from "../core/door.ts";
import type { ClientCall } from "./client-call.ts";
import { Connection } from "./connection.ts";
import { idText, type Request, type RequestId, type Response, readMessage } from "./json-rpc.ts";
import { type Propagate, withContext } from "./meta.ts";
import type { Reporter } from "./reporter.ts";
import { statusCodeOf } from "./rpc-error.ts";
import type { Around, TransportWatch } from "./transport-hook.ts";

/** A `tools/call` whose code is running. */
export interface RunningCall {
  /** The client's open calls. Identifies the client. */
  readonly of: ReadonlySet<ClientCall>;
  /** The object with name and arguments. The client's methods pass it to each other. */
  readonly params: unknown;
  /** `undefined`: the call is not reported. */
  readonly call: ClientCall | undefined;
}

export const runningCall = new AsyncLocalStorage<RunningCall>();

/** Follows the messages of one connection of a client. */
export class ClientWatch implements TransportWatch {
  readonly connection: Connection;
  readonly #calls: ReadonlySet<ClientCall>;
  readonly #propagate: Propagate;
  readonly #reporter: Reporter;
  /** Calls by the ID of their pending request. */
  readonly #requests = new Map<RequestId, ClientCall>();
  /** Calls by the ID of the server's request that they wait for. */
  readonly #waiting = new Map<RequestId, ClientCall>();

  /** @param calls the open calls of the client. */
  constructor(
    transport: object,
    calls: ReadonlySet<ClientCall>,
    propagate: Propagate,
    reporter: Reporter,
  ) {
    this.connection = new Connection(transport);
    this.#calls = calls;
    this.#propagate = propagate;
    this.#reporter = reporter;
  }

  sending(message: unknown): unknown {
    const read = readMessage(message);
    switch (read?.kind) {
      case "request":
        this.connection.noteRequest(read);
        this.#noteCall(read);
        return withContext(message, read, currentRunContext(), this.#propagate);
      case "response":
        this.#waiting.get(read.id)?.waits.close(`request ${read.id}`, read);
        this.#waiting.delete(read.id);
        return message;
      default:
        return message;
    }
  }

  receiving(message: unknown): Around | undefined {
    const read = readMessage(message);
    switch (read?.kind) {
      case "response":
        this.connection.noteResponse(read);
        return this.#answered(read);
      case "request":
        return this.#asked(read);
      default:
        return undefined;
    }
  }

  closed(): void {
    this.#requests.clear();
    this.#waiting.clear();
  }

  /** Forgets the requests of an ended call. */
  ended(call: ClientCall): void {
    for (const table of [this.#requests, this.#waiting]) {
      for (const [id, of] of table) if (of === call) table.delete(id);
    }
  }

  #noteCall({ id, method, params }: Request): void {
    if (method !== "tools/call") return;
    const call = this.#running();
    if (call === undefined || textOf(params?.name) !== call.tool) return;
    this.#requests.set(id, call);
    call.note({ ...this.connection.details(method), request_id: idText(id) });
    // The request is repeated, with the answers that the server asked for.
    const answers = fieldsOf(params?.inputResponses);
    for (const [key, answer] of Object.entries(answers ?? {})) {
      call.waits.close(`input ${key}`, { result: fieldsOf(answer) ?? {} });
    }
  }

  /** @returns the context of the call, because the SDK may continue the call while it delivers the response. */
  #answered({ error, id, result }: Response): Around | undefined {
    const call = this.#requests.get(id);
    if (call === undefined) return undefined;
    this.#requests.delete(id);
    const code = statusCodeOf(error);
    if (code !== undefined) call.note({ status_code: code });
    if (result?.resultType === "input_required") {
      for (const [key, asked] of Object.entries(fieldsOf(result.inputRequests) ?? {})) {
        const request = fieldsOf(asked);
        const method = textOf(request?.method);
        if (method !== undefined)
          call.waits.open(`input ${key}`, method, fieldsOf(request?.params));
      }
    }
    return (work) => this.#inside(call, work);
  }

  /** The server sends a request while it works on a call. */
  #asked({ id, method, params }: Request): Around | undefined {
    if (method !== "elicitation/create" && method !== "sampling/createMessage") return undefined;
    // With HTTP, the response stream belongs to its request. With a pipe, the call is only known if a single one is
    // open.
    const [only, ...others] = this.#calls;
    const call = this.#running() ?? (others.length === 0 ? only : undefined);
    if (call === undefined) {
      this.#reporter.counts.unplaced += 1;
      return undefined;
    }
    const stepId = call.waits.open(`request ${id}`, method, params, idText(id));
    if (stepId !== undefined) this.#waiting.set(id, call);
    return (work) => this.#inside(call, work, stepId);
  }

  #inside<T>(call: ClientCall, work: () => T, stepId?: string): T {
    const running = { of: this.#calls, params: call.given.params, call };
    return runningCall.run(running, () => call.within(work, stepId));
  }

  /** The call of this client that the running code belongs to. */
  #running(): ClientCall | undefined {
    const call = runningCall.getStore()?.call;
    return call !== undefined && this.#calls.has(call) ? call : undefined;
  }
}
