import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import {
  type McpClientOptions,
  type McpServerOptions,
  mcpClient,
  mcpServer,
} from "../../../src/entries/mcp.ts";
import {
  type AgentEvent,
  type AgentEventSink,
  Bridge,
  type BridgeOptions,
} from "../../../src/index.ts";
import { collectSpans, type SpanNode, toTrees } from "../../support/spans.ts";
import { type Told, toldOf } from "../../support/told.ts";
import { Client, Pipe, played, Server, type Tool } from "./peers.ts";

/** A sink that keeps its events and hands them on to a bridge, with clients and servers that report to it. */
export function observe(bridgeOptions: BridgeOptions = {}) {
  const collected = collectSpans();
  const bridge = new Bridge({ tracerProvider: collected.provider, ...bridgeOptions });
  const told: Told[] = [];
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const sink: AgentEventSink & Pick<Bridge, "withSpan" | "runContext"> = {
    send(event, envelope = {}) {
      told.push({ event, envelope });
      return bridge.send(event, envelope);
    },
    withSpan: (place, work) => bridge.withSpan(place, work),
    runContext: (...place) => bridge.runContext(...place),
  };
  const client = (options: McpClientOptions = {}) =>
    mcpClient(new Client(), { onError, ...options });
  const server = (tools: Record<string, Tool>, options: Partial<McpServerOptions> = {}) =>
    mcpServer(new Server(tools), { sink, tenant: "acme", onError, ...options });
  /** A client that is connected to a server, which is wrapped or not. @returns also the client's pipe. */
  async function connected(near: Client, far: Server): Promise<Pipe> {
    const [mine, theirs] = Pipe.pair();
    await far.connect(theirs);
    await near.open(mine);
    mine.sent.length = 0;
    theirs.sent.length = 0;
    return mine;
  }
  return {
    sink,
    bridge,
    told,
    errors,
    client,
    server,
    connected,
    /** Runs code as a run of its own, while messages travel. */
    run: <T>(work: Parameters<typeof runAgent<T>>[1], tenant = "acme"): Promise<T> =>
      played(runAgent<T>({ sink, agent: "support", tenant }, work)),
    of: <T extends AgentEvent["type"]>(type: T) => toldOf(told, type),
    spans: () => collected.spans(),
    trees: () => toTrees(collected.spans()),
    /** The spans, a line each, indented by depth: their name, and how they ended. */
    lines: () => toTrees(collected.spans()).flatMap((node) => linesOf(node, "")),
    /** Attributes of the one span of this name. */
    attributes(name: string) {
      const found = collected.spans().filter((span) => span.name === name);
      if (found.length !== 1) throw new Error(`expected one span ${name}, got ${found.length}`);
      return found[0]?.attributes ?? {};
    },
  };
}

function linesOf(node: SpanNode, indent: string): string[] {
  const { attributes, children, span, status } = node;
  const outcome =
    attributes["entelix.run.outcome"] ??
    attributes["entelix.tool.outcome"] ??
    attributes["entelix.step.outcome"] ??
    attributes["entelix.model.outcome"];
  const line = `${indent}${span}: ${outcome}${status === "error" ? " ERROR" : ""}`;
  return [line, ...children.flatMap((child) => linesOf(child, `${indent}  `))];
}
