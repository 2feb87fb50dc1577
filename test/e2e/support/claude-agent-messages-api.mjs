// A scripted Messages API on 127.0.0.1, for the process of the Claude Agent SDK. Plain JavaScript, since it runs in
// the program that is tested.
import { createServer } from "node:http";

/** Tokens of every answer: what its first event says, and what its last one says of the output. */
const USAGE = {
  input_tokens: 10,
  output_tokens: 1,
  cache_read_input_tokens: 4,
  cache_creation_input_tokens: 2,
};
const OUTPUT_TOKENS = 20;

export const text = (said) => ({ type: "text", text: said });
export const uses = (id, name, input = {}) => ({ type: "tool_use", id, name, input });
/** An answer with an HTTP status. */
/** An answer that ends in another way than usual. */
export const ends = (reason, ...blocks) => Object.assign(blocks, { reason });
export const refuses = (status, type) => ({ status, type });

/**
 * @param script gets the request's last message as JSON, the number of requests before it, and the model. It returns content
 *   blocks, `refuses(…)`, or `undefined` for no answer at all.
 */
export async function messagesApi(script) {
  let requests = 0;
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => {
      if (!request.url.startsWith("/v1/messages?")) return json(response, 404, { type: "error" });
      const { messages, model } = JSON.parse(body);
      const answer = script(JSON.stringify(messages.at(-1)), requests, model);
      requests += 1;
      if (answer === undefined) return;
      if (!Array.isArray(answer)) {
        const { status, type } = answer;
        return json(response, status, { type: "error", error: { type, message: "scripted" } });
      }
      stream(response, `msg_${requests}`, model, answer);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function json(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function stream(response, id, model, blocks) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type, data) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  const message = { id, type: "message", role: "assistant", model, content: [], usage: USAGE };
  send("message_start", { message: { ...message, stop_reason: null, stop_sequence: null } });
  for (const [index, block] of blocks.entries()) {
    const isText = block.type === "text";
    const content_block = isText ? { ...block, text: "" } : { ...block, input: {} };
    send("content_block_start", { index, content_block });
    const delta = isText
      ? { type: "text_delta", text: block.text }
      : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
    send("content_block_delta", { index, delta });
    send("content_block_stop", { index });
  }
  const usual = blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
  const stop_reason = blocks.reason ?? usual;
  const usage = { output_tokens: OUTPUT_TOKENS };
  send("message_delta", { delta: { stop_reason, stop_sequence: null }, usage });
  send("message_stop", {});
  response.end();
}
