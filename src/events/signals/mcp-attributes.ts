import type { EventDetails } from "../event-details.ts";
import { MOST_NAME } from "../value-limits.ts";
import type { SignalAttributes } from "./known-attributes.ts";

/** The attributes of a call, run or step of the Model Context Protocol; `undefined` for any other. */
export function mcpAttributes(details: EventDetails | undefined): SignalAttributes | undefined {
  const mcp = details?.mcp;
  if (typeof mcp !== "object" || mcp === null) return undefined;
  const address = nameIn(mcp.server_address);
  return {
    "mcp.method.name": nameIn(mcp.method),
    "mcp.protocol.version": nameIn(mcp.protocol_version),
    "mcp.session.id": nameIn(mcp.session_id),
    "jsonrpc.request.id": nameIn(mcp.request_id),
    "rpc.response.status_code": nameIn(mcp.status_code),
    "network.transport": nameIn(mcp.transport),
    "server.address": address,
    "server.port": address === undefined ? undefined : portIn(mcp.server_port),
    "entelix.elicitation.action": nameIn(mcp.elicitation),
  };
}

// Programs without types put anything there. A value of a wrong type counts as absent.

function nameIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, MOST_NAME) : undefined;
}

function portIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) ? value : undefined;
}
