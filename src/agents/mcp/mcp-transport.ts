import { currentRunContext } from "../../bridge/door.ts";
import { among, checkEach, checkFunction, checkGiven } from "../../events/door.ts";
import { readMessage } from "./json-rpc.ts";
import { type Propagate, withContext } from "./meta.ts";
import { keepCounts, mcpCounts, Reporter } from "./reporter.ts";
import { type TransportWatch, watchTransport } from "./transport-hook.ts";

/** The method that a transport must have, in either version of the SDK or another client. */
export interface McpTransportLike {
  send(...args: never[]): Promise<unknown>;
}

/** Options of `mcpTransport`. All are optional. */
export interface McpTransportOptions {
  /** Same as the option of `mcpClient`. Default `run`. */
  readonly propagate?: Propagate | undefined;
  /** Called with errors of this package. Default: not called. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * Adds the context of the calling run to the requests of a client. It reports nothing. Use it for clients that
 * `mcpClient` cannot wrap and whose calls a framework's adapter reports. The transport is changed in place. A
 * repeated call does nothing.
 *
 * @returns the transport.
 * @throws TypeError when an option has the wrong type.
 *
 * @example
 * const transport = mcpTransport(new StdioClientTransport({ command: "orders" }));
 * const client = await createMCPClient({ transport }); // of the AI SDK
 */
export function mcpTransport<T extends McpTransportLike>(
  transport: T,
  options: McpTransportOptions = {},
): T {
  const { onError, propagate = "run" } = checkEach(options, {
    propagate: among("run", "trace", "none"),
    onError: checkFunction,
  });
  checkGiven(transport, "transport", "send");
  if (mcpCounts(transport) !== undefined) return transport;
  const reporter = new Reporter(onError);
  keepCounts(transport, reporter);
  const watch: TransportWatch = {
    sending: (message) => {
      const read = readMessage(message);
      return read?.kind === "request"
        ? withContext(message, read, currentRunContext(), propagate)
        : message;
    },
    receiving: () => undefined,
    closed: () => {},
  };
  watchTransport(transport, watch, reporter);
  return transport;
}
