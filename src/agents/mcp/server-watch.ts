import { type McpDetails, MOST_NAME, property } from "../../events/door.ts";
import { fieldsOf, textOf } from "../core/door.ts";
import { Connection } from "./connection.ts";
import { idText, type Request, type RequestId, readMessage } from "./json-rpc.ts";
import type { Reporter } from "./reporter.ts";
import { handledCall, ServerCall } from "./server-call.ts";
import { DEFAULT_OPEN_CALLS, type McpServerOptions } from "./server-options.ts";
import type { ServerScopes } from "./server-scopes.ts";
import type { Around, TransportWatch } from "./transport-hook.ts";

/** Follows the messages of one connection of a server. */
export class ServerWatch implements TransportWatch {
  readonly #transport: object;
  readonly #connection: Connection;
  readonly #options: McpServerOptions;
  readonly #scopes: ServerScopes;
  readonly #reporter: Reporter;
  /** Open calls by request ID, oldest first. */
  readonly #calls = new Map<RequestId, ServerCall>();
  /** Calls that wait for a response of the client, by request ID. */
  readonly #waiting = new Map<RequestId, ServerCall>();

  constructor(
    transport: object,
    options: McpServerOptions,
    scopes: ServerScopes,
    reporter: Reporter,
  ) {
    this.#transport = transport;
    this.#connection = new Connection(transport);
    this.#options = options;
    this.#scopes = scopes;
    this.#reporter = reporter;
  }

  receiving(message: unknown, extra: unknown): Around | undefined {
    const read = readMessage(message);
    switch (read?.kind) {
      case "request":
        this.#connection.noteRequest(read);
        return read.method === "tools/call" ? this.#called(read, extra) : undefined;
      case "notification":
        if (read.method === "notifications/cancelled") this.#cancelled(read.params?.requestId);
        return undefined;
      case "response":
        this.#waiting.get(read.id)?.waits.close(`request ${read.id}`, read);
        this.#waiting.delete(read.id);
        return undefined;
      default:
        return undefined;
    }
  }

  sending(message: unknown): unknown {
    const read = readMessage(message);
    if (read?.kind === "response") {
      this.#connection.noteResponse(read);
      const call = this.#calls.get(read.id);
      if (call !== undefined) {
        this.#forget(read.id, call);
        call.answered(read, this.#options.isFailure, this.#reporter);
      }
    } else if (read?.kind === "request") {
      const call = handledCall.getStore();
      const key = `request ${read.id}`;
      const stepId = call?.waits.open(key, read.method, read.params, idText(read.id));
      if (call !== undefined && stepId !== undefined) this.#waiting.set(read.id, call);
    }
    return message;
  }

  closed(): void {
    for (const call of this.#calls.values()) call.cancelled();
    this.#calls.clear();
    this.#waiting.clear();
  }

  #called({ id, method, params }: Request, extra: unknown): Around | undefined {
    const tool = textOf(params?.name)?.slice(0, MOST_NAME) ?? "";
    const request = property(extra, "request") ?? property(extra, "requestInfo");
    const mcp: McpDetails = {
      ...versionIn(request),
      ...this.#connection.details(method),
      ...(request === undefined ? {} : { transport: "tcp" }),
      request_id: idText(id),
    };
    const scope = this.#scopes.start(
      {
        tool,
        meta: fieldsOf(params?._meta) ?? {},
        sessionId: textOf(property(this.#transport, "sessionId")),
        authInfo: property(extra, "authInfo"),
        request,
      },
      mcp,
    );
    if (scope === undefined) return undefined;
    const call = new ServerCall(scope, tool, { mcp });
    call.start(params?.arguments);
    this.#calls.set(id, call);
    this.#makeRoom();
    return (work) => call.within(work);
  }

  #cancelled(id: unknown): void {
    if (typeof id !== "string" && typeof id !== "number") return;
    const call = this.#calls.get(id);
    if (call === undefined) return;
    const end = () => {
      if (this.#calls.get(id) !== call) return;
      this.#forget(id, call);
      call.cancelled();
    };
    const { signal } = call;
    // The SDK reads the notification after this. SDK 1.x ignores it for requests 0 and "", and answers them.
    if (signal === undefined) end();
    else setImmediate(() => signal.aborted && end());
  }

  /** Forgets the oldest call above the limit, because a handler may never respond. The sink closes its run by age. */
  #makeRoom(): void {
    const { maxOpenCalls = DEFAULT_OPEN_CALLS } = this.#options;
    if (this.#calls.size <= maxOpenCalls) return;
    for (const [id, call] of this.#calls) {
      this.#forget(id, call);
      this.#reporter.counts.forgotten += 1;
      return;
    }
  }

  #forget(id: RequestId, call: ServerCall): void {
    this.#calls.delete(id);
    for (const [request, of] of this.#waiting) if (of === call) this.#waiting.delete(request);
  }
}

/** The version in an HTTP request, for a connection without `initialize`. */
function versionIn(request: unknown): Pick<McpDetails, "protocol_version"> {
  const headers: unknown = property(request, "headers");
  const given =
    headers instanceof Headers
      ? headers.get("mcp-protocol-version")
      : property(headers, "mcp-protocol-version");
  const protocol_version = textOf(given);
  return protocol_version === undefined ? {} : { protocol_version };
}
