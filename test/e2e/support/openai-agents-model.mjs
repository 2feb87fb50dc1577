// A scripted model for the programs with the OpenAI Agents SDK.
import { Usage, withResponseSpan } from "@openai/agents-core";

/**
 * Answers by its script: items, an error, a function of the request, or items with further fields of the response. It
 * traces as the models of `@openai/agents-openai` do.
 */
export class ScriptedModel {
  constructor(script) {
    this.script = [...script];
  }

  getResponse(request) {
    return withResponseSpan(async (span) => {
      if (request.tracing === true) span.spanData._input = request.input;
      const step = this.script.shift();
      const said = typeof step === "function" ? await step(request) : step;
      if (said instanceof Error) throw said;
      const { output, response } = Array.isArray(said) ? { output: said } : said;
      const usage = new Usage({ requests: 1, inputTokens: 10, outputTokens: 5, totalTokens: 15 });
      span.spanData.response_id = "resp-1";
      span.spanData._response = {
        id: "resp-1",
        model: "small-1",
        status: "completed",
        output: output.map(asAnswered),
        usage: {
          input_tokens: 10,
          output_tokens: 5,
          input_tokens_details: { cached_tokens: 2 },
        },
        ...response,
      };
      return { output, usage, responseId: "resp-1" };
    });
  }
}

/** As the Responses API writes it. */
const asAnswered = ({ type, callId, name, arguments: input, ...rest }) =>
  type === "function_call" ? { type, call_id: callId, name, arguments: input } : { type, ...rest };

export const says = (text) => ({
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text }],
});

export const asks = (name, callId, input = {}) => ({
  type: "function_call",
  name,
  callId,
  arguments: JSON.stringify(input),
  status: "completed",
});
