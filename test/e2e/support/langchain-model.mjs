// A scripted model for the programs with LangChain.js.
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";

/**
 * Answers by its script: a message, an error, or a function of the options. It says what it used: 10 tokens in, 2 of
 * them cached, 5 out.
 */
export class ScriptedModel extends BaseChatModel {
  constructor(script) {
    super({ maxRetries: 0 });
    this.script = [...script];
  }

  _llmType() {
    return "scripted";
  }

  getLsParams(options) {
    return { ...super.getLsParams(options), ls_provider: "acme", ls_model_name: "small-1" };
  }

  bindTools() {
    return this;
  }

  async _generate(_messages, options) {
    const step = this.script.shift();
    const message = typeof step === "function" ? await step(options) : step;
    if (message instanceof Error) throw message;
    return { generations: [{ text: String(message.content), message }] };
  }
}

export function says(content, ...calls) {
  return new AIMessage({
    content,
    tool_calls: calls.map(([name, id, args = {}]) => ({ type: "tool_call", name, id, args })),
    usage_metadata: {
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 15,
      input_token_details: { cache_read: 2 },
    },
    response_metadata: {
      model_name: "small-1-2026",
      finish_reason: calls.length > 0 ? "tool_calls" : "stop",
    },
  });
}
