import { fieldsOf } from "../../../src/agents/core/narrow.ts";

// Two peers that follow the protocol as far as these tests need it: requests with ids, responses, errors,
// notifications, a time limit, an abort. The real SDKs are in `test/e2e/mcp.e2e.ts`.

type Json = Readonly<Record<string, unknown>>;
type Deliver = (message: Json, extra?: unknown) => void;

/** One end of a connection. What one end sends arrives at the other in a later turn, in no context of the sender's. */
export class Pipe {
  onmessage: Deliver | undefined;
  onclose: (() => void) | undefined;
  sessionId: string | undefined;
  /** Every message that was sent from here. */
  readonly sent: Json[] = [];
  /** What comes with each message that arrives here, as a transport with authentication says it. */
  extra: unknown;
  #other: Pipe | undefined;

  static pair(): [Pipe, Pipe] {
    const [near, far] = [new Pipe(), new Pipe()];
    near.#other = far;
    far.#other = near;
    return [near, far];
  }

  async start(): Promise<void> {}

  async send(message: Json): Promise<void> {
    this.sent.push(message);
    this.#other?.arrive(message);
  }

  /** A message from outside. */
  arrive(message: Json): void {
    queue.push(() => this.onmessage?.(message, this.extra));
  }

  async close(): Promise<void> {
    this.onclose?.();
    this.#other?.onclose?.();
  }
}

/** What arrives is delivered from here, as a process reads its pipe: outside of whatever sent it. */
const queue: (() => void)[] = [];

/** Delivers what is on its way until nothing more comes. */
export async function settle(): Promise<void> {
  for (let quiet = 0; quiet < 20; ) {
    const deliver = queue.shift();
    if (deliver === undefined) quiet += 1;
    else {
      quiet = 0;
      deliver();
    }
    await Promise.resolve();
  }
}

/** Delivers while `work` is under way. */
export async function played<T>(work: Promise<T>): Promise<T> {
  let done = false;
  const ended = work.finally(() => {
    done = true;
  });
  ended.catch(() => {});
  while (!done) {
    await settle();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return ended;
}

/** As the SDK's clients throw it. */
export class McpError extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = "McpError";
    this.code = code;
    this.data = data;
  }
}

type Handler = (params: Json, request: Json) => unknown;

/** What both peers do. */
class Peer {
  transport: Pipe | undefined;
  readonly handlers = new Map<string, Handler>();
  /** Of the SDK. */
  version: 1 | 2 = 1;
  readonly #pending = new Map<unknown, (response: Json | Error) => void>();
  readonly #working = new Map<unknown, AbortController>();
  #next = 0;

  async connect(transport: Pipe): Promise<void> {
    this.transport = transport;
    transport.onclose = () => {
      for (const settled of this.#pending.values()) {
        settled(new McpError(-32000, "MCP error -32000: Connection closed"));
      }
      this.#pending.clear();
    };
    transport.onmessage = (message, extra) => this.#arrived(message, extra);
    await transport.start();
  }

  request(request: Json, options: { signal?: AbortSignal; timeout?: boolean } = {}) {
    return new Promise<Json>((resolve, reject) => {
      const id = this.#next;
      this.#next += 1;
      this.#pending.set(id, (response) => {
        if (response instanceof Error) return reject(response);
        const error = fieldsOf(response.error);
        if (error !== undefined) {
          return reject(new McpError(Number(error.code), String(error.message)));
        }
        const result = fieldsOf(response.result) ?? {};
        // As the clients of SDK 2.x do, inside the delivery of the response.
        return resolve(
          result.resultType === "input_required" ? this.#fulfil(request, result) : result,
        );
      });
      const cancel = (reason: unknown, data?: unknown) => {
        this.#pending.delete(id);
        void this.transport?.send({
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId: id, reason: String(reason) },
        });
        reject(new McpError(-32001, `MCP error -32001: ${String(reason)}`, data));
      };
      options.signal?.addEventListener("abort", () => cancel(options.signal?.reason));
      void this.transport?.send({ jsonrpc: "2.0", id, ...request });
      if (options.timeout) cancel("Request timed out", { timeout: 50 });
    });
  }

  /** Asks the person, and makes the request again. */
  async #fulfil(request: Json, asked: Json): Promise<Json> {
    const inputResponses: Record<string, unknown> = {};
    for (const [key, each] of Object.entries(fieldsOf(asked.inputRequests) ?? {})) {
      const input = fieldsOf(each) ?? {};
      const handler = this.handlers.get(String(input.method));
      inputResponses[key] = await handler?.(fieldsOf(input.params) ?? {}, input);
    }
    return this.request({ ...request, params: { ...fieldsOf(request.params), inputResponses } });
  }

  setRequestHandler(method: string, handler: Handler): void {
    this.handlers.set(method, handler);
  }

  #arrived(message: Json, extra: unknown): void {
    if ("method" in message) {
      if ("id" in message) void this.#answer(message, extra);
      else if (message.method === "notifications/cancelled") this.#cancelled(message);
      return;
    }
    const settled = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    settled?.(message);
  }

  /** As the SDK reads a notification: later, and version 1.x not for requests 0 and "". */
  #cancelled({ params }: Json): void {
    const id = fieldsOf(params)?.requestId;
    if (this.version === 1 && !id) return;
    void Promise.resolve().then(() => this.#working.get(id)?.abort("cancelled"));
  }

  async #answer(message: Json, given: unknown): Promise<void> {
    const { id } = message;
    const working = new AbortController();
    this.#working.set(id, working);
    const { signal } = working;
    const extra = this.version === 1 ? { ...fieldsOf(given), signal } : { mcpReq: { signal } };
    const reply = async (rest: Json) => {
      if (!signal.aborted) await this.transport?.send({ jsonrpc: "2.0", id, ...rest });
    };
    try {
      const handler = this.handlers.get(String(message.method));
      if (handler === undefined) throw new McpError(-32601, "Method not found");
      const params = fieldsOf(message.params) ?? {};
      await reply({ result: await handler(params, { ...message, extra }) });
    } catch (error) {
      const code = error instanceof McpError ? error.code : -32603;
      await reply({ error: { code, message: error instanceof Error ? error.message : "error" } });
    }
  }
}

export class Client extends Peer {
  async open(transport: Pipe): Promise<this> {
    await this.connect(transport);
    const initialize = { method: "initialize", params: { protocolVersion: "2025-11-25" } };
    await played(this.request(initialize));
    return this;
  }

  /** As SDK 1.x has it. */
  callTool(
    params: Json,
    _schema?: unknown,
    options?: { signal?: AbortSignal; timeout?: boolean },
  ): Promise<Json> {
    return this.request({ method: "tools/call", params }, options);
  }
}

export type Tool = (args: Json, extra?: unknown) => unknown;

/** As `Server` of the SDK. Errors of tools are answered as the SDK's `McpServer` answers them. */
export class Server extends Peer {
  readonly tools: Record<string, Tool>;
  readonly _serverInfo = { name: "shop" };

  constructor(tools: Record<string, Tool> = {}) {
    super();
    this.tools = tools;
    this.handlers.set("initialize", () => ({ protocolVersion: "2025-11-25", capabilities: {} }));
    this.handlers.set("tools/call", async ({ name, arguments: args }, { extra }) => {
      const tool = this.tools[String(name)];
      if (tool === undefined) throw new McpError(-32602, `Tool ${name} not found`);
      try {
        return await tool(fieldsOf(args) ?? {}, extra);
      } catch (error) {
        if (error instanceof McpError) throw error;
        const text = error instanceof Error ? error.message : String(error);
        return { content: [{ type: "text", text }], isError: true };
      }
    });
  }

  registerTool(name: string, _config: Json, tool: Tool): void {
    this.tools[name] = tool;
  }
}

export const text = (said: string) => ({ content: [{ type: "text", text: said }] });
