// A model server on this machine that speaks OpenAI's Chat Completions. Its answers come from `answers.mjs`.
import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { answerTo } from "./answers.mjs";

/** @returns the base URL, and `close`. */
export async function startModelServer(pace) {
  let answers = 0;
  const refused = new Set();
  const server = createServer(async (request, response) => {
    const { messages, model, tools = [] } = await json(request);
    const { isBusyOnce, message, question } = answerTo(messages);
    if (isBusyOnce && !refused.has(question)) {
      refused.add(question);
      return send(response, 429, { error: tooMany(model) }, { "retry-after": "2" });
    }
    answers += 1;
    const prompt_tokens = tokensOf(messages) + 48 * tools.length;
    const completion_tokens = tokensOf([message]);
    await pace.wait(450 + prompt_tokens / 2 + 14 * completion_tokens);
    send(response, 200, {
      id: `chatcmpl-${answers}`,
      object: "chat.completion",
      created: Math.floor(Date.now() / 1000),
      model,
      choices: [{ index: 0, message, finish_reason: message.tool_calls ? "tool_calls" : "stop" }],
      usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function send(response, status, body, headers = {}) {
  // Without "close", a client may use a connection at the moment when it is closed for being idle.
  response.writeHead(status, {
    "content-type": "application/json",
    connection: "close",
    ...headers,
  });
  response.end(JSON.stringify(body));
}

function tooMany(model) {
  return {
    message: `Rate limit reached for ${model}: 20 requests per minute. Try again in 2 s.`,
    type: "requests",
    code: "rate_limit_exceeded",
  };
}

/** About one token for four characters. */
function tokensOf(messages) {
  const texts = messages.flatMap(({ content, tool_calls = [] }) => [
    JSON.stringify(content ?? ""),
    ...tool_calls.map((call) => call.function.name + call.function.arguments),
  ]);
  return Math.ceil(texts.join("").length / 4) + 4 * messages.length;
}
