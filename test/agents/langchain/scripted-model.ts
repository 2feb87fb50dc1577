import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import {
  BaseChatModel,
  type BaseChatModelParams,
} from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";

/** What a scripted model does when it is called: it says something, throws, or takes its time. */
export type Line = AIMessage | Error | ((signal: AbortSignal | undefined) => Promise<AIMessage>);

/** A model that answers by its script, line by line. */
export class ScriptedModel extends BaseChatModel {
  readonly #script: Line[];

  constructor(script: readonly Line[], fields: BaseChatModelParams = {}) {
    super({ maxRetries: 0, ...fields });
    this.#script = [...script];
  }

  _llmType(): string {
    return "scripted";
  }

  override getLsParams(options: this["ParsedCallOptions"]) {
    return { ...super.getLsParams(options), ls_provider: "acme", ls_model_name: "small-1" };
  }

  override bindTools(): this {
    return this;
  }

  async _generate(
    _messages: BaseMessage[],
    options: this["ParsedCallOptions"],
  ): Promise<ChatResult> {
    const message = await this.next(options.signal);
    return { generations: [{ text: String(message.content), message }] };
  }

  protected async next(signal: AbortSignal | undefined): Promise<AIMessage> {
    const line = this.#script.shift();
    if (line === undefined) throw new Error("the script is over");
    if (line instanceof Error) throw line;
    return typeof line === "function" ? line(signal) : line;
  }
}

/** The same, word by word where it is asked to stream. */
export class StreamingModel extends ScriptedModel {
  override async *_streamResponseChunks(
    _messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    manager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const message = await this.next(options.signal);
    const words = String(message.content).split(/(?<= )/);
    for (const [index, word] of words.entries()) {
      const chunk = new ChatGenerationChunk({
        text: word,
        message: new AIMessageChunk(index === 0 ? firstChunk(message, word) : { content: word }),
      });
      yield chunk;
      await manager?.handleLLMNewToken(word, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

function firstChunk(message: AIMessage, content: string) {
  const { id, response_metadata, usage_metadata } = message;
  return {
    content,
    response_metadata,
    ...(id === undefined ? {} : { id }),
    ...(usage_metadata === undefined ? {} : { usage_metadata }),
    tool_call_chunks: (message.tool_calls ?? []).map(({ name, args, id }, index) => ({
      type: "tool_call_chunk" as const,
      name,
      args: JSON.stringify(args),
      ...(id === undefined ? {} : { id }),
      index,
    })),
  };
}

/** Messages of one id replace each other in a graph. */
let said = 0;

/** What a model says, with what it used: 10 tokens in, 2 of them cached, 5 out. */
export function says(content: string, ...calls: readonly ToolRequest[]): AIMessage {
  said += 1;
  const message = new AIMessage({
    id: `resp-${said}`,
    content,
    tool_calls: calls.map(([name, id, args = {}]) => ({ type: "tool_call", name, id, args })),
  });
  return Object.assign(message, {
    usage_metadata: {
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 15,
      input_token_details: { cache_read: 2, cache_creation: 1 },
      output_token_details: { reasoning: 3 },
    },
    response_metadata: {
      model_name: "small-1-2026",
      finish_reason: calls.length > 0 ? "tool_calls" : "stop",
    },
  });
}

/** Name, id of the call, arguments. */
export type ToolRequest = readonly [string, string, Record<string, unknown>?];
