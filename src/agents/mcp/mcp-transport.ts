import { currentRunContext } from "../../bridge/door.ts";
import { checkFunction, checkOneOf, checkOptionsObject } from "../../events/door.ts";
import { readMessage } from "./json-rpc.ts";
import { type Propagate, withContext } from "./meta.ts";
import { keepCounts, mcpCounts, Reporter } from "./reporter.ts";
import { watchTransport } from "./transport-hook.ts";

/** What a transport has, of either version of the SDK or of another client. */
export interface McpTransportLike {
  send(...args: never[]): Promise<unknown>;
}

/** What the requests of a transport carry. Every option may be left out. */
export interface McpTransportOptions {
  /** As the option of `mcpClient`. Default `run`. */
  readonly propagate?: Propagate | undefined;
  /** Called with errors of this package. Default: none. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * Makes the requests of a client carry the context of the run that makes them, and reports nothing: for
 * clients that `mcpClient` cannot wrap, and whose calls the adapter of a framework reports. The transport
 * is changed in place, once: a second time does nothing.
 *
 * @returns the transport.
 * @throws TypeError when an option is of another type.
 *
 * @example
 * const transport = mcpTransport(new StdioClientTransport({ command: "orders" }));
 * const client = await createMCPClient({ transport }); // of the AI SDK
 */
export function mcpTransport<T extends McpTransportLike>(
  transport: T,
  options: McpTransportOptions = {},
): T {
  checkOptionsObject(options);
  const { onError, propagate = "run" } = options;
  checkOneOf(propagate, "propagate", ["run", "trace", "none"]);
  checkFunction(onError, "onError");
  if (mcpCounts(transport) !== undefined) return transport;
  const reporter = new Reporter(onError);
  keepCounts(transport, reporter);
  watchTransport(transport, {
    sending: (message) => {
      const read = readMessage(message);
      return read?.kind === "request"
        ? withContext(message, read, currentRunContext(), propagate)
        : message;
    },
    receiving: () => undefined,
    closed: () => {},
    troubled: reporter.troubled,
  });
  return transport;
}
