// A script instead of a model: a Messages API on this machine. `env` sends the SDK's process there.
import { createServer } from "node:http";

const last = { type: "text", text: "You have your money back." };
const answers = [asks("look_up"), asks("refund"), last];
const server = createServer((request, response) => {
  request.resume();
  if (!request.url.startsWith("/v1/messages?")) return response.writeHead(404).end("{}");
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type, data) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  const { input, text, ...block } = answers.shift();
  const isText = text !== undefined;
  const head = { id: `msg_${answers.length}`, role: "assistant", model: "claude-sonnet-4-5" };
  const usage = { input_tokens: 31, output_tokens: 1 };
  send("message_start", { message: { type: "message", ...head, content: [], usage } });
  const content_block = isText ? { ...block, text: "" } : { ...block, input: {} };
  send("content_block_start", { index: 0, content_block });
  const json = { type: "input_json_delta", partial_json: JSON.stringify(input) };
  const delta = isText ? { type: "text_delta", text } : json;
  send("content_block_delta", { index: 0, delta });
  send("content_block_stop", { index: 0 });
  const stop_reason = isText ? "end_turn" : "tool_use";
  send("message_delta", { delta: { stop_reason }, usage: { output_tokens: 7 } });
  send("message_stop", {});
  response.end();
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
server.unref();

export const env = {
  ...process.env,
  ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
  ANTHROPIC_API_KEY: "none",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", // such as a request for a title
};

function asks(name) {
  const input = { order: "17" };
  return { type: "tool_use", id: `call_${name}`, name: `mcp__shop__${name}`, input };
}
