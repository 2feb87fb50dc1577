import { isPromise, property } from "../../events/door.ts";
import { fieldsOf, textOf } from "../core/door.ts";
import { keepCounts, mcpCounts, Reporter } from "./reporter.ts";
import { handledCall } from "./server-call.ts";
import { checkServerOptions, type McpServerOptions } from "./server-options.ts";
import { ServerScopes } from "./server-scopes.ts";
import { ServerWatch } from "./server-watch.ts";
import { watchTransport } from "./transport-hook.ts";

/**
 * The method that a server must have. `McpServer` and `Server` of `@modelcontextprotocol/sdk` 1.x and of
 * `@modelcontextprotocol/server` 2.x have it.
 */
export interface McpServerLike {
  connect(...args: never[]): Promise<void>;
}

type Callback = (this: unknown, ...args: readonly unknown[]) => unknown;

/** Agent name for a server without a name. */
const UNNAMED = "mcp-server";

/** The handler property of a registered tool: SDK up to 1.24, later 1.x, and 2.x. */
const HANDLERS = ["callback", "handler", "executor"];

/**
 * Makes each tool call that a server receives a run, and runs the tool's handler as code of that run. HTTP spans,
 * models and further tools of the handler are children of that run. Wrap the server before you register its tools and
 * before it connects. The server is changed in place. A repeated call does nothing. Errors of this package or of the
 * sink never reach the server.
 *
 * @returns the server.
 * @throws TypeError when `connect` of the server is missing, or an option is missing or has the wrong type.
 * @throws RangeError when `maxOpenCalls` is not a whole number from 1.
 *
 * @example
 * const server = mcpServer(new McpServer({ name: "orders", version: "1.0.0" }), {
 *   sink: bridge,
 *   tenant: "acme",
 *   trust: true, // the only caller is the process that started this one
 * });
 */
export function mcpServer<S extends McpServerLike>(server: S, given: McpServerOptions): S {
  const options = checkServerOptions(given);
  // `McpServer` wraps a `Server` that has the connection.
  const inner: unknown = property(server, "server");
  const lowLevel = isObject(inner) && isCallback(property(inner, "connect")) ? inner : server;
  const connect: unknown = property(lowLevel, "connect");
  if (!isCallback(connect)) {
    throw new TypeError('server: expected an MCP server with a function "connect"');
  }
  if (mcpCounts(lowLevel) !== undefined) return server;
  const reporter = new Reporter(options.onError);
  keepCounts(lowLevel, reporter);
  if (lowLevel !== server) keepCounts(server, reporter);
  const name = textOf(fieldsOf(property(lowLevel, "_serverInfo"))?.name);
  const scopes = new ServerScopes(options, options.agent ?? name ?? UNNAMED, reporter);
  const watched = new WeakSet<object>();
  const connects = (transport: unknown): void => {
    reporter.contain(() => {
      if (!isObject(transport) || watched.has(transport)) return;
      watched.add(transport);
      watchTransport(transport, new ServerWatch(transport, options, scopes, reporter), reporter);
    });
  };
  connects(property(lowLevel, "transport"));
  put(lowLevel, "connect", function (transport, ...rest) {
    connects(transport);
    return Reflect.apply(connect, this, [transport, ...rest]);
  });
  noteHandlers(lowLevel, "setRequestHandler");
  noteHandlers(server, "registerTool");
  noteHandlers(server, "tool");
  for (const tool of Object.values(fieldsOf(property(server, "_registeredTools")) ?? {})) {
    if (!isObject(tool)) continue;
    for (const field of HANDLERS) {
      const handler: unknown = property(tool, field);
      if (isCallback(handler)) Reflect.set(tool, field, noting(handler));
    }
  }
  return server;
}

/** Wraps a method that registers handlers, so that errors of the handlers are noted. */
function noteHandlers(server: object, name: string): void {
  const method: unknown = property(server, name);
  if (!isCallback(method)) return;
  put(server, name, function (...args) {
    const handler = args.at(-1);
    const given = isCallback(handler) ? [...args.slice(0, -1), noting(handler)] : args;
    return Reflect.apply(method, this, given);
  });
}

/** Wraps a handler to note its errors. The SDK only keeps their texts. */
function noting(handler: Callback): Callback {
  return function (...args) {
    const call = handledCall.getStore();
    if (call === undefined) return Reflect.apply(handler, this, args);
    call.signal = signalIn(args.at(-1));
    try {
      const result: unknown = Reflect.apply(handler, this, args);
      if (isPromise(result)) result.then(undefined, (error: unknown) => call.noteThrown(error));
      return result;
    } catch (error) {
      call.noteThrown(error);
      throw error;
    }
  };
}

/** The signal of a request, in the last argument of its handler: SDK 1.x, and 2.x. */
function signalIn(extra: unknown): AbortSignal | undefined {
  const signal: unknown =
    property(extra, "signal") ?? property(property(extra, "mcpReq"), "signal");
  return signal instanceof AbortSignal ? signal : undefined;
}

function put(server: object, name: string, method: Callback): void {
  Object.defineProperty(server, name, { value: method, writable: true, configurable: true });
}

function isCallback(value: unknown): value is Callback {
  return typeof value === "function";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
