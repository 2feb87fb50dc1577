// Starts the installed command as a service, sends one event, and ends it as an init system would.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";

const command = new URL("node_modules/.bin/entelix-otel", import.meta.url).pathname;
const args = ["serve", "--journal", "journal", "--audit", "served", "--listen", "127.0.0.1:0"];
const service = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
let said = "";
service.stdout.setEncoding("utf8");
service.stdout.on("data", (text) => {
  said += text;
});
while (!/http:\/\/127\.0\.0\.1:\d+/.test(said)) await once(service.stdout, "data");
const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
const line = {
  type: "started",
  run_id: "018f3c7a-0000-7000-8000-000000000001",
  tenant_id: "acme",
  parent_run_id: null,
  agent: "react",
  event_id: "0f3c7a00-0000-4000-8000-000000000001",
  timestamp: "2026-04-29T12:00:00Z",
};
const answer = await fetch(`${url}/v1/events`, {
  method: "POST",
  headers: { "content-type": "application/x-ndjson" },
  body: `${JSON.stringify(line)}\n{"type":"started"}\n`,
});
const { lines, accepted, rejected } = await answer.json();
assert.deepEqual([answer.status, lines, accepted, rejected], [200, 2, 1, 1]);
service.kill("SIGTERM");
const [code] = await once(service, "exit");
assert.equal(code, 0);
console.log("1 of 2 lines accepted, exit 0");
