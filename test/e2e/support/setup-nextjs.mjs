// Starts the built Next.js application, asks its route, waits until its spans are sent, and stops it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const args = ["../node_modules/next/dist/bin/next", "start", "--port", "0"];
const next = spawn(process.execPath, [...args, "--hostname", "127.0.0.1"], {
  stdio: ["ignore", "pipe", "inherit"],
  env: { ...process.env, OTEL_BSP_SCHEDULE_DELAY: "200" },
});
for await (const line of createInterface(next.stdout)) {
  const address = /Local:\s+(http\S+)/.exec(line)?.[1];
  if (address === undefined) continue;
  const answer = await (await fetch(`${address}/api/chat`)).text();
  if (answer !== "Order 17 is sent") throw new Error(`unexpected answer: ${answer}`);
  // The recorder is asked until the run's span is there.
  while ((await (await fetch(`${process.env.RECORDER}/arrived`)).text()) !== "yes");
  next.kill();
  await once(next, "exit");
  break;
}
