import {
  createResponseSpan,
  type Model,
  type ModelRequest,
  type ModelResponse,
  resetCurrentSpan,
  type StreamEvent,
  setCurrentSpan,
  Usage,
  withGenerationSpan,
  withResponseSpan,
} from "@openai/agents-core";

/** What a model's answer is made of. */
export type Item = Extract<StreamEvent, { type: "response_done" }>["response"]["output"][number];

/** One answer of the model: what it says and asks for, an error, or what decides when it is asked. */
export type Step = readonly Item[] | Error | ((request: ModelRequest) => Promise<readonly Item[]>);

export function says(text: string): Item {
  return {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text }],
  };
}

export function asks(tool: string, input: unknown = {}, callId = `call_${tool}`): Item {
  const text = typeof input === "string" ? input : JSON.stringify(input);
  return { type: "function_call", name: tool, callId, arguments: text, status: "completed" };
}

export const TOKENS = { input: 10, output: 5, cached: 3, reasoning: 2 };

let answers = 0;

/** Which API it answers by. `aisdk`: as the models of `@openai/agents-extensions` 0.18 trace. */
export type Api = "responses" | "chat" | "aisdk";

/**
 * A model that works through a script. It traces as the models of `@openai/agents-openai` 0.13 do,
 * since agents-core leaves that to the model.
 */
export class ScriptedModel implements Model {
  readonly #steps: Step[];
  readonly #api: Api;

  constructor(steps: readonly Step[], api: Api = "responses") {
    this.#steps = [...steps];
    this.#api = api;
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    if (request.tracing === false) return answer(await this.#next(request));
    return this.#api === "responses" ? this.#response(request) : this.#generation(request);
  }

  #response(request: ModelRequest): Promise<ModelResponse> {
    return withResponseSpan(async (span) => {
      const said = answer(await this.#next(request));
      span.spanData.response_id = said.responseId ?? "";
      span.spanData._input = request.input as string;
      span.spanData._response = rawResponse(said);
      return said;
    });
  }

  #generation(request: ModelRequest): Promise<ModelResponse> {
    return withGenerationSpan(async (span) => {
      span.spanData.model = "small-1";
      if (request.tracing === true) {
        const items = itemsOf(request);
        span.spanData.input = this.#api === "chat" ? items.map(chatMessage) : [...items];
      }
      const said = answer(await this.#next(request));
      if (request.tracing === true) {
        span.spanData.output = this.#api === "chat" ? [rawCompletion(said)] : said.output;
        if (this.#api === "aisdk") {
          span.spanData.usage = { input_tokens: TOKENS.input, output_tokens: TOKENS.output };
        }
      }
      return said;
    });
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const span = request.tracing === false ? undefined : createResponseSpan();
    try {
      if (span !== undefined) {
        span.start();
        setCurrentSpan(span);
        if (request.tracing === true) span.spanData._input = request.input as string;
      }
      const output = [...(await this.#next(request))];
      const said = answer(output);
      yield { type: "response_started" };
      yield { type: "output_text_delta", delta: "…" };
      const usage = { inputTokens: TOKENS.input, outputTokens: TOKENS.output, totalTokens: 15 };
      const id = said.responseId ?? "";
      yield { type: "response_done", response: { id, output, usage } };
      if (span !== undefined) {
        span.spanData.response_id = id;
        span.spanData._response = rawResponse(said);
      }
    } catch (error) {
      const data = { error: String(error) };
      span?.setError({ message: "Error streaming response", data });
      throw error;
    } finally {
      if (span !== undefined) {
        span.end();
        resetCurrentSpan();
      }
    }
  }

  async #next(request: ModelRequest): Promise<readonly Item[]> {
    const step = this.#steps.shift();
    if (step === undefined) throw new Error("the script is over");
    if (step instanceof Error) throw step;
    return typeof step === "function" ? await step(request) : step;
  }
}

function answer(output: readonly Item[]): ModelResponse {
  answers += 1;
  const usage = new Usage({
    requests: 1,
    inputTokens: TOKENS.input,
    outputTokens: TOKENS.output,
    totalTokens: TOKENS.input + TOKENS.output,
  });
  return { output: [...output], usage, responseId: `resp_${answers}` };
}

type Asked = Exclude<ModelRequest["input"], string>[number];

function itemsOf({ input, systemInstructions }: ModelRequest): readonly Asked[] {
  const items: readonly Asked[] =
    typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
  return systemInstructions === undefined
    ? items
    : [{ type: "message", role: "system", content: systemInstructions }, ...items];
}

/** As the Chat Completions API is asked; other items are not in these tests. */
function chatMessage(item: Asked): Record<string, unknown> {
  switch (item.type) {
    case "function_call":
      return {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: item.callId,
            type: "function",
            function: { name: item.name, arguments: item.arguments },
          },
        ],
      };
    case "function_call_result": {
      const { callId: tool_call_id, output } = item;
      const content = typeof output === "object" && "text" in output ? output.text : output;
      return { role: "tool", tool_call_id, content };
    }
    default:
      return { ...item };
  }
}

/** The text of an answer. */
function textOf(output: ModelResponse["output"]): string | null {
  const texts = output.flatMap((item) => {
    const content = "content" in item && Array.isArray(item.content) ? item.content : [];
    return content.flatMap((part) => (part.type === "output_text" ? [part.text] : []));
  });
  return texts.length === 0 ? null : texts.join("");
}

/** As the Responses API answers. */
function rawResponse({ responseId, output }: ModelResponse) {
  return {
    id: responseId,
    model: "small-1-2026",
    status: "completed",
    output: output.map((item) =>
      item.type === "function_call"
        ? { type: item.type, call_id: item.callId, name: item.name, arguments: item.arguments }
        : item,
    ),
    usage: {
      input_tokens: TOKENS.input,
      output_tokens: TOKENS.output,
      input_tokens_details: { cached_tokens: TOKENS.cached },
      output_tokens_details: { reasoning_tokens: TOKENS.reasoning },
    },
  };
}

/** As the Chat Completions API answers. */
function rawCompletion({ responseId, output }: ModelResponse) {
  const calls = output.flatMap((item) =>
    item.type === "function_call"
      ? [{ id: item.callId, function: { name: item.name, arguments: item.arguments } }]
      : [],
  );
  return {
    id: responseId,
    model: "small-1-2026",
    choices: [
      {
        message: { role: "assistant", content: textOf(output), tool_calls: calls },
        finish_reason: calls.length > 0 ? "tool_calls" : "stop",
      },
    ],
    usage: {
      prompt_tokens: TOKENS.input,
      completion_tokens: TOKENS.output,
      prompt_tokens_details: { cached_tokens: TOKENS.cached },
      completion_tokens_details: { reasoning_tokens: TOKENS.reasoning },
    },
  };
}
