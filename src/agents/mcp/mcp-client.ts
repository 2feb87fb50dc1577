import { isPromise, property } from "../../events/door.ts";
import { textOf } from "../core/door.ts";
import { CallScopes } from "./call-scopes.ts";
import { ClientCall } from "./client-call.ts";
import { checkClientOptions, type McpClientOptions } from "./client-options.ts";
import { ClientWatch, runningCall } from "./client-watch.ts";
import { keepCounts, mcpCounts, Reporter } from "./reporter.ts";
import { watchTransport } from "./transport-hook.ts";

/**
 * The methods that a client must have. `Client` of `@modelcontextprotocol/sdk` 1.x and of
 * `@modelcontextprotocol/client` 2.x has them.
 */
export interface McpClientLike {
  connect(...args: never[]): Promise<void>;
  callTool(...args: never[]): unknown;
  request(...args: never[]): unknown;
}

type Method = (this: unknown, ...args: readonly unknown[]) => unknown;

/**
 * Reports the tool calls of an MCP client. A call by code of a run is a tool call of that run, and carries the run's
 * context to the server. Wrap the client before it connects. Otherwise the protocol version is not known. The client
 * is changed in place. A repeated call does nothing. Errors of this package or of a sink never reach the client.
 *
 * @returns the client.
 * @throws TypeError when a method of a client is missing, or an option has the wrong type.
 *
 * @example
 * const client = mcpClient(new Client({ name: "shop", version: "1.0.0" }));
 * await client.connect(transport);
 * await runAgent({ sink: bridge, agent: "support", tenant: "acme" }, () =>
 *   client.callTool({ name: "find_order", arguments: { id: 17 } }),
 * );
 */
export function mcpClient<C extends McpClientLike>(client: C, given: McpClientOptions = {}): C {
  const options = checkClientOptions(given);
  const connect = methodOf(client, "connect");
  const callTool = methodOf(client, "callTool");
  const request = methodOf(client, "request");
  if (mcpCounts(client) !== undefined) return client;
  const reporter = new Reporter(options.onError);
  keepCounts(client, reporter);
  const calls = new WrappedCalls(options, reporter);
  const connected = property(client, "transport");
  if (typeof connected === "object" && connected !== null) calls.connects(connected);
  put(client, "connect", function (transport, ...rest) {
    if (typeof transport === "object" && transport !== null) calls.connects(transport);
    return Reflect.apply(connect, this, [transport, ...rest]);
  });
  put(client, "callTool", function (...args) {
    return calls.report(args[0], args, () => Reflect.apply(callTool, this, args));
  });
  // Programs may call `request` directly. Inside `callTool`, the call is already reported.
  put(client, "request", function (...args) {
    const work = () => Reflect.apply(request, this, args);
    if (property(args[0], "method") !== "tools/call") return work();
    const params = property(args[0], "params");
    return calls.isUnderWay(params) ? work() : calls.report(params, args.slice(1), work);
  });
  return client;
}

/** The calls of one client. */
class WrappedCalls {
  readonly #options: McpClientOptions;
  readonly #reporter: Reporter;
  readonly #scopes: CallScopes;
  readonly #open = new Set<ClientCall>();
  /** A client may connect again with the same transport. */
  readonly #watched = new WeakSet<object>();
  /** The watch of the last connection. */
  #watch: ClientWatch | undefined;

  constructor(options: McpClientOptions, reporter: Reporter) {
    this.#options = options;
    this.#reporter = reporter;
    this.#scopes = new CallScopes(options, reporter);
  }

  connects(transport: object): void {
    this.#reporter.contain(() => {
      if (this.#watched.has(transport)) return;
      this.#watched.add(transport);
      const { propagate = "run" } = this.#options;
      const watch = new ClientWatch(transport, this.#open, propagate, this.#reporter);
      watchTransport(transport, watch, this.#reporter);
      this.#watch = watch;
    });
  }

  /**
   * Whether a request belongs to the running call: another method of the client started the call, or the request
   * repeats it with the answers for the server.
   */
  isUnderWay(params: unknown): boolean {
    const running = runningCall.getStore();
    if (running?.of !== this.#open) return false;
    if (running.params === params) return true;
    const isAgain = property(params, "inputResponses") !== undefined;
    return isAgain && property(params, "name") === property(running.params, "name");
  }

  report(params: unknown, args: readonly unknown[], work: () => unknown): unknown {
    const call = this.#begin(params, args);
    const running = { of: this.#open, params, call };
    if (call === undefined) return runningCall.run(running, work);
    let outcome: unknown;
    try {
      outcome = runningCall.run(running, () => call.within(work));
    } catch (error) {
      this.#end(call, () => call.threw(error));
      throw error;
    }
    if (!isPromise(outcome)) {
      this.#end(call, () => this.#returned(call, outcome));
      return outcome;
    }
    return outcome.then(
      (result: unknown) => {
        this.#end(call, () => this.#returned(call, result));
        return result;
      },
      (error: unknown) => {
        this.#end(call, () => call.threw(error));
        throw error;
      },
    );
  }

  #begin(params: unknown, args: readonly unknown[]): ClientCall | undefined {
    return this.#reporter.contain(() => {
      const tool = textOf(property(params, "name")) ?? "";
      const scope = this.#scopes.of({ tool, arguments: property(params, "arguments") });
      if (scope === undefined) return undefined;
      const mcp = this.#watch?.connection.details("tools/call") ?? { method: "tools/call" };
      const call = new ClientCall(scope, { tool, params, signal: signalIn(args) }, mcp);
      call.start();
      this.#open.add(call);
      return call;
    });
  }

  #returned(call: ClientCall, result: unknown): void {
    call.returned(result, this.#options.isFailure, this.#reporter);
  }

  #end(call: ClientCall, report: () => void): void {
    this.#open.delete(call);
    this.#watch?.ended(call);
    this.#reporter.contain(report);
  }
}

/** The signal of the options. Their position differs between versions. */
function signalIn(args: readonly unknown[]): unknown {
  return args.map((arg) => property(arg, "signal")).find((signal) => signal instanceof AbortSignal);
}

function methodOf(client: object, name: string): Method {
  const method: unknown = property(client, name);
  if (isMethod(method)) return method;
  throw new TypeError(`client: expected an MCP client with a function "${name}"`);
}

function isMethod(value: unknown): value is Method {
  return typeof value === "function";
}

function put(client: object, name: string, method: Method): void {
  Object.defineProperty(client, name, { value: method, writable: true, configurable: true });
}
