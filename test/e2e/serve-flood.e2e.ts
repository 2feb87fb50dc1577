import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { OtlpServer } from "../support/otlp-server.ts";
import { ATTACKS, Attacker } from "./support/attackers.ts";
import { ServeProcess } from "./support/serve-process.ts";
import { SPANS_A_RUN, wholeRuns } from "./support/serve-runs.ts";
import { sendUntilTaken } from "./support/serve-sender.ts";
import { untilHolds } from "./support/until.ts";

const MIB = 1024 * 1024;
const EACH = 25;
const CONNECTIONS = Object.keys(ATTACKS).length * EACH;
/** Well above what it needs, far below what the attackers send or would have it keep. */
const MOST_MEMORY = 400 * MIB;
const RUNS = 200;

it("stays small and right under 200 connections that mean no good", {
  timeout: 300_000,
}, async () => {
  await using receiver = await OtlpServer.start();
  await using serve = await ServeProcess.start({
    args: [
      ...["--endpoint", receiver.url, "--max-connections", String(CONNECTIONS + 8)],
      ...["--max-line", "256KiB", "--max-body", "8MiB", "--max-lines", "20000"],
    ],
  });
  const port = Number(new URL(serve.url).port);
  const before = await serve.memory();
  const attackers = Object.entries(ATTACKS).map(
    ([name, attack]) =>
      [
        name,
        Array.from({ length: EACH }, () => new Attacker(attack, port, name !== "deaf")),
      ] as const,
  );
  const all = attackers.flatMap(([, each]) => each);
  let most = 0;
  let watching = true;
  const watch = (async () => {
    while (watching) {
      most = Math.max(most, await serve.memory());
      // Answered throughout, past all of them.
      const health = await fetch(`${serve.url}/healthz`, { signal: AbortSignal.timeout(60_000) });
      expect([health.status, await health.text()]).toEqual([200, '{"status":"ok"}\n']);
      await sleep(200);
    }
  })();
  // It is heard of below, after what else there is to say.
  watch.catch(() => {});
  try {
    const runs = wholeRuns(RUNS, "acme");
    for (let at = 0; at < RUNS; at += 10) {
      await sendUntilTaken(serve.url, runs.slice(at, at + 10).flat());
    }
    // Who is slow or silent is ended by the service; a body that goes on may take 300 s.
    const held = () =>
      attackers.flatMap(([name, each]) => (each.some(({ ended }) => ended === 0) ? [name] : []));
    await untilHolds("all others were ended", () => expect(held()).toEqual(["slowBody"]), {
      timeoutMs: 120_000,
    });
    const said = new Map(attackers.map(([name, [first]]) => [name, first?.answer ?? ""]));
    expect(said.get("endlessLine")).toMatch(/^HTTP\/1\.1 413 .*"code":"body_size"/s);
    expect(said.get("endlessLines")).toMatch(/^HTTP\/1\.1 413 /);
    expect(said.get("bomb")).toMatch(/^HTTP\/1\.1 413 .*"code":"body_size"/s);
    expect(said.get("slowHead")).toMatch(/^HTTP\/1\.1 408 .*"code":"slow"/s);
    expect(said.get("stopped")).toMatch(/^HTTP\/1\.1 408 .*"code":"slow"/s);
    expect(said.get("silent")).toMatch(/^HTTP\/1\.1 408 /);
    await untilHolds("what is right arrived", () => {
      expect(receiver.spans.length).toBe(RUNS * SPANS_A_RUN);
    });
  } finally {
    watching = false;
    for (const attacker of all) attacker.stop();
  }
  await watch;
  console.log(`memory: ${Math.round(before / MIB)} MiB before, ${Math.round(most / MIB)} at most`);
  expect(most).toBeLessThan(MOST_MEMORY);
  await untilHolds("the connections are gone", async () => {
    expect(await serve.metric("entelix_ingest_connections")).toBeLessThan(5);
  });
  expect(await serve.log()).not.toMatch(/^\d{4}-\S+Z /m);
});
