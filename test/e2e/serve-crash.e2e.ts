import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { OtlpServer } from "../support/otlp-server.ts";
import { ServeProcess } from "./support/serve-process.ts";
import { SPANS_A_RUN, wholeRuns } from "./support/serve-runs.ts";
import { sendUntilTaken } from "./support/serve-sender.ts";
import { contentsBySpan } from "./support/span-sets.ts";
import { untilHolds } from "./support/until.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.mjs", import.meta.url));
const SERVICE = ["--service-name", "crashing"];
const RUNS = 2000;
const SENDERS = 8;
const CRASHES = 6;

it("has every span of what it acknowledged, once, after kill -9 under load", {
  timeout: 300_000,
}, async () => {
  let away = false;
  await using receiver = await OtlpServer.start({ answer: () => (away ? 503 : 200) });
  await using serve = await ServeProcess.start(async (folder) => ({
    args: ["--endpoint", receiver.url, "--audit", `${folder}/audit`, ...SERVICE],
  }));
  const runs = wholeRuns(RUNS, "acme");
  const taken = new Set<string>();
  const share = Math.ceil(RUNS / SENDERS);
  let sending = true;
  const senders = Promise.all(
    Array.from({ length: SENDERS }, async (_, sender) => {
      const own = runs.slice(sender * share, (sender + 1) * share);
      // Many runs beside each other, and a run over several requests.
      for (let at = 0; at < own.length; at += 25) {
        const group = own.slice(at, at + 25);
        for (const half of [0, 4]) {
          const lines = group.flatMap((lines) => lines.slice(half, half + 4));
          await sendUntilTaken(serve.url, lines, (line) => void taken.add(line));
        }
      }
    }),
  ).finally(() => {
    sending = false;
  });
  for (let crash = 0; crash < CRASHES && sending; crash += 1) {
    // The receiver is away for a part of it, so that stored and not stored are mixed.
    away = crash % 3 === 1;
    await sleep(300 + crash * 70);
    await serve.crash();
  }
  away = false;
  await senders;
  await serve.crash();
  const lines = runs.flat();
  expect(taken.size).toBe(lines.length);

  await untilHolds(
    "every span is there",
    () => expect(contentsBySpan(receiver.spans).size).toBe(RUNS * SPANS_A_RUN),
    { timeoutMs: 90_000 },
  );
  const received = contentsBySpan(receiver.spans);
  expect([...received.values()].filter((contents) => contents.length > 1)).toEqual([]);

  // The same events, read once from a file, without a crash.
  await using reference = await OtlpServer.start();
  const file = serve.at("all.ndjson");
  await writeFile(file, lines.map((line) => `${line}\n`).join(""));
  await promisify(execFile)(process.execPath, [
    MAIN,
    "replay",
    file,
    "--endpoint",
    reference.url,
    "--audit",
    serve.at("reference"),
    ...SERVICE,
  ]);
  const expected = contentsBySpan(reference.spans);
  expect(expected.size).toBe(RUNS * SPANS_A_RUN);
  const wrong = [...expected].filter(([id, [content]]) => received.get(id)?.[0] !== content);
  const [first = []] = wrong;
  expect([wrong.length, received.get(String(first[0]))]).toEqual([0, first[1]]);
  expect(receiver.faults).toEqual([]);

  // Sent once more, all is known.
  const again = await fetch(`${serve.url}/v1/events`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body: `${lines.join("\n")}\n`,
  });
  expect(await again.json()).toMatchObject({ duplicate: lines.length, accepted: 0, rejected: 0 });

  await serve.stop();
  const { stdout } = await promisify(execFile)(process.execPath, [
    MAIN,
    "audit",
    "verify",
    serve.at("audit"),
  ]);
  expect(stdout).toContain(`intact, closed: ${(8 * RUNS).toLocaleString("en-US")} rows`);
});
