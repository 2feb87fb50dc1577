import type { UsageSnapshot } from "../agent-event.ts";
import { property } from "../errors/thrown.ts";
import type { DecisionDetails, EventDetails } from "../event-details.ts";
import { withoutAdded } from "../polluted-prototype.ts";
import { soundUsage } from "../sound-usage.ts";
import { decimalText, MOST_INT, MOST_NAME } from "../value-limits.ts";
import type { RunUsage } from "./signal.ts";
import type { SignalAttributes } from "./signal-attributes.ts";

// Untyped programs may put any value into the details of an event. A value of a wrong type counts as absent.

/** The attributes of a call, run or step of the Model Context Protocol. `undefined` for any other. */
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

function nameIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, MOST_NAME) : undefined;
}

function portIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) ? value : undefined;
}

/**
 * The decision in the details of an approval or a denial. `undefined` if there is none.
 *
 * @param outcome the event's own outcome.
 */
export function decisionIn(
  details: EventDetails | undefined,
  outcome: "approved" | "denied",
): DecisionDetails | undefined {
  const given: Loose | null | undefined = details?.decision;
  if (typeof given !== "object" || given === null) return undefined;
  const { by, person, proposed_input, reason, wait_ms } = given;
  const other = outcome === "approved" ? "edited" : "answered";
  return withoutAdded({
    outcome: given.outcome === other ? other : outcome,
    ...(by === "user" || by === "policy" ? { by } : {}),
    ...(typeof person === "string" && person !== "" ? { person } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
    ...(isWait(wait_ms) ? { wait_ms } : {}),
    ...(proposed_input === undefined ? {} : { proposed_input }),
  });
}

type Loose = { readonly [K in keyof DecisionDetails]?: unknown };

function isWait(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= MOST_INT;
}

/** A cost of zero, with any number of decimal places. */
const ZERO_COST = /^-?0+(?:\.0*)?$/;

/**
 * The usage of a run. A part that is larger than its whole is not known. A cost of zero is left out unless the details
 * say that the cost is known: senders without prices report `"0"`.
 */
export function usageOf(
  given: UsageSnapshot | null | undefined,
  details: EventDetails | undefined,
): RunUsage | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const usage = soundUsage(given);
  // Untyped programs may send a getter that throws. The end of the run must not be lost.
  const cost = property(usage, "cost_usd");
  if (!isZeroCost(cost) || details?.cost_known === true) return usage;
  return { ...usage, cost_usd: null };
}

/** The cost of a model call as decimal text. `undefined` if it is not known. */
export function costIn(cost: unknown, details: EventDetails | undefined): string | undefined {
  if (isZeroCost(cost) && details?.cost_known !== true) return undefined;
  if (typeof cost === "bigint") return String(cost);
  if (typeof cost === "number") return Number.isFinite(cost) ? decimalText(cost) : undefined;
  return typeof cost === "string" && cost !== "" ? cost : undefined;
}

/** Untyped programs send numbers, too. */
function isZeroCost(cost: unknown): boolean {
  return typeof cost === "string" ? ZERO_COST.test(cost) : cost === 0 || cost === 0n;
}

/** Milliseconds as seconds. `undefined` if there are none. */
export function secondsIn(milliseconds: unknown): number | undefined {
  const isTime = typeof milliseconds === "number" || typeof milliseconds === "bigint";
  return isTime && milliseconds >= 0 ? Number(milliseconds) / 1000 : undefined;
}

/** A whole number from 0 as an attribute's number. */
export function countIn(value: unknown): number | undefined {
  if (typeof value === "bigint") return value < 0n ? undefined : Math.min(Number(value), MOST_INT);
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0) return undefined;
  return Math.min(value, MOST_INT);
}
