import { createServer, type IncomingMessage, type Server } from "node:http";
import { portOf } from "./free-ports.ts";
import { field, list } from "./json-shape.ts";

/** The model that answers, whichever is asked. Backends know its price. */
export const MODEL = "gpt-4o-mini-2024-07-18";

/** What it says in a conversation with that many tool results. */
const TURNS = [
  { call: "look_up" },
  { call: "refund" },
  { text: "A colleague will refund order 17." },
] as const;

/** Tokens of that turn. */
const usageOf = (turn: number) => ({
  input: 300 + turn * 50,
  cached: turn === 0 ? 0 : 256,
  output: 20 + turn,
  reasoning: 8,
});

/**
 * OpenAI's Chat Completions, Responses and Embeddings, as far as agents of the tests need them: the model calls
 * `look_up`, then `refund`, and then answers. A question with `break` gets status 400.
 */
export class OpenAiServer {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${portOf(server)}/v1`;
  }

  static async start(): Promise<OpenAiServer> {
    const server = createServer((request, response) => {
      void bodyOf(request).then((body) => {
        const { status, answer } = answered(request.url ?? "", body);
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(answer));
      });
    });
    await new Promise<void>((listening) => {
      server.listen(0, "127.0.0.1", listening);
    });
    return new OpenAiServer(server);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  return body;
}

function answered(path: string, body: string): { status: number; answer: unknown } {
  if (body.includes("break")) {
    const error = { message: "the model is away", type: "invalid_request_error", code: "away" };
    return { status: 400, answer: { error } };
  }
  const asked: unknown = JSON.parse(body);
  if (path.endsWith("/embeddings")) return { status: 200, answer: embedded(field(asked, "model")) };
  return { status: 200, answer: path.endsWith("/responses") ? response(asked) : completion(asked) };
}

function embedded(model: unknown) {
  const data = [{ object: "embedding", index: 0, embedding: [0.1, 0.2] }];
  return { object: "list", data, model, usage: { prompt_tokens: 4, total_tokens: 4 } };
}

function completion(asked: unknown) {
  const turn = list(asked, "messages").filter(
    (message) => field(message, "role") === "tool",
  ).length;
  const said = TURNS[turn];
  const { input, cached, output, reasoning } = usageOf(turn);
  const calls = [
    {
      id: `call_${turn + 1}`,
      type: "function",
      function: { name: said && "call" in said ? said.call : "", arguments: '{"order":17}' },
    },
  ];
  const isCall = said !== undefined && "call" in said;
  return {
    id: `chatcmpl-${turn}`,
    object: "chat.completion",
    created: 1,
    model: MODEL,
    choices: [
      {
        index: 0,
        message: isCall
          ? { role: "assistant", content: null, tool_calls: calls }
          : { role: "assistant", content: said?.text },
        finish_reason: isCall ? "tool_calls" : "stop",
      },
    ],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
    },
  };
}

function response(asked: unknown) {
  const input = list(asked, "input");
  const turn = input.filter((item) => field(item, "type") === "function_call_output").length;
  const said = TURNS[turn];
  const used = usageOf(turn);
  const item =
    said !== undefined && "call" in said
      ? {
          type: "function_call",
          id: `fc_${turn}`,
          call_id: `call_${turn + 1}`,
          name: said.call,
          arguments: '{"order":17}',
          status: "completed",
        }
      : {
          type: "message",
          id: `msg_${turn}`,
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: said?.text, annotations: [] }],
        };
  return {
    id: `resp_${turn}`,
    object: "response",
    created_at: 1,
    model: MODEL,
    status: "completed",
    output: [item],
    usage: {
      input_tokens: used.input,
      output_tokens: used.output,
      total_tokens: used.input + used.output,
      input_tokens_details: { cached_tokens: used.cached },
      output_tokens_details: { reasoning_tokens: used.reasoning },
    },
    error: null,
    incomplete_details: null,
    parallel_tool_calls: true,
    tool_choice: "auto",
    instructions: field(asked, "instructions") ?? null,
    tools: field(asked, "tools") ?? [],
    temperature: field(asked, "temperature"),
    metadata: {},
  };
}
