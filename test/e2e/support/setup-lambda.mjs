// A stub of Lambda's runtime API with two invocations, and a runtime that asks it, as Lambda's does.
import { createServer } from "node:http";

const answers = [];
const api = createServer(async (request, response) => {
  const [, , , , id = ""] = request.url.split("/");
  if (id === "next") {
    const headers = { "lambda-runtime-aws-request-id": String(answers.length) };
    response.writeHead(200, headers).end(JSON.stringify({ id: 17 }));
    return;
  }
  let body = "";
  for await (const part of request) body += part;
  answers.push(JSON.parse(body));
  response.writeHead(202).end();
});
await new Promise((resolve) => api.listen(0, "127.0.0.1", resolve));
const base = `http://127.0.0.1:${api.address().port}/2018-06-01/runtime/invocation`;

const { handler } = await import("./handler.mjs");
while (answers.length < 2) {
  const invocation = await fetch(`${base}/next`);
  const id = invocation.headers.get("lambda-runtime-aws-request-id");
  const body = JSON.stringify(await handler(await invocation.json()));
  await fetch(`${base}/${id}/response`, { method: "POST", body });
}
if (answers.some((answer) => answer !== "Order 17 is sent.")) {
  throw new Error(`unexpected answers: ${answers}`);
}
// Lambda freezes the process: nothing is sent after the last answer.
process.exit(0);
