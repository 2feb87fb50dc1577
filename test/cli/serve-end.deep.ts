import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { OtlpServer } from "../support/otlp-server.ts";
import { command } from "./support/command.ts";
import { Folder } from "./support/folder.ts";
import { recording } from "./support/recorded.ts";

const RUN = { run_id: "018f3c7a-0000-7000-8000-000000000002", tenant_id: "acme" };
const LINES = [
  { event_id: "e1", timestamp: "2026-11-20T10:00:00Z", type: "started", agent: "a", ...RUN },
  { event_id: "e2", timestamp: "2026-11-20T10:00:01Z", type: "complete", state: {}, ...RUN },
];

it("serve ends in time though a request that the receiver does not answer may take a minute", async () => {
  using folder = new Folder();
  await using receiver = await OtlpServer.start({ answer: () => "hang" });
  let asked: Promise<number> | undefined;
  const ask = async (url: string, kill: (signal: NodeJS.Signals) => void) => {
    await fetch(`${url}/v1/events`, {
      method: "POST",
      headers: { "Content-Type": "application/x-ndjson" },
      body: LINES.map((line) => JSON.stringify(line)).join("\n"),
    });
    await expect.poll(() => receiver.requests.length, { timeout: 20_000 }).toBeGreaterThan(0);
    kill("SIGTERM");
    return performance.now();
  };
  const args = ["--journal", folder.at("journal"), "--listen", "127.0.0.1:0"];
  const { code, signal } = await command(["serve", ...args, "--endpoint", receiver.url], {
    env: { OTEL_EXPORTER_OTLP_TIMEOUT: "60000" },
    onStdout: (text, kill) => {
      const url = /Listening on (\S+)/.exec(text)?.[1];
      if (url !== undefined) asked ??= ask(url, kill);
    },
  });
  const took = performance.now() - ((await asked) ?? 0);
  expect([code, signal]).toEqual([0, null]);
  // 6 s to store, 3 s for the stores to come to their end, 2 s for what they leave open.
  expect(took).toBeLessThan(25_000);
});

it.each([
  ["SIGTERM", 0, "✓ intact, closed"],
  ["SIGKILL", 3, "! no damage, not closed"],
] as const)(
  "audit verify tells a log that serve closed from one it left open: %s",
  async (signal, code, words) => {
    using folder = new Folder();
    const audit = folder.at("audit");
    let ended: Promise<void> | undefined;
    const use = async (url: string, kill: (signal: NodeJS.Signals) => void) => {
      try {
        await fetch(`${url}/v1/events`, {
          method: "POST",
          headers: { "Content-Type": "application/x-ndjson" },
          body: readFileSync(recording("success")),
        });
        const verified = async () => (await command(["audit", "verify", audit])).stdout;
        await expect.poll(verified, { timeout: 20_000 }).toMatch(/^✓ no damage, open: 8 rows, /);
      } finally {
        kill(signal);
      }
    };
    const args = ["--journal", folder.at("journal"), "--listen", "127.0.0.1:0", "--audit", audit];
    const served = await command(["serve", ...args], {
      onStdout: (text, kill) => {
        const url = /Listening on (\S+)/.exec(text)?.[1];
        if (url !== undefined) ended ??= use(url, kill);
      },
    });
    await ended;
    expect(served.signal).toBe(signal === "SIGKILL" ? signal : null);
    const { stdout, ...left } = await command(["audit", "verify", audit]);
    expect([left.code, stdout.split(": ")[0]]).toEqual([code, words]);
  },
);
