import { createHash } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import { v7 } from "uuid";
import { expect, it } from "vitest";
import { command } from "../cli/support/command.ts";
import { OtlpServer } from "../support/otlp-server.ts";
import { fetchText } from "./support/http.ts";
import { ServeProcess } from "./support/serve-process.ts";
import { SPANS_A_RUN, wholeRuns } from "./support/serve-runs.ts";
import { sendLines } from "./support/serve-sender.ts";
import { until, untilHolds } from "./support/until.ts";

function entry(token: string, tenant: string): object {
  return { tenant, sha256: createHash("sha256").update(token).digest("hex") };
}

it("ends at SIGTERM: what is acknowledged is stored, open runs go on at the next start", async () => {
  await using receiver = await OtlpServer.start();
  await using serve = await ServeProcess.start({
    args: ["--endpoint", receiver.url, "--service-name", "drained"],
  });
  const [whole = [], open = []] = wholeRuns(2, "acme");
  await sendLines(serve.url, [...whole, ...open.slice(0, 6)]);
  await serve.stop();
  // All calls and runs that had ended: of the open run its child, which was over.
  const stored = receiver.spans.length;
  await serve.start();
  expect(await serve.log()).toMatch(
    /Listening on http:\S+ \(14 lines in the journal, \d+ still needed\)/,
  );
  await sendLines(serve.url, open.slice(6));
  await untilHolds("the run that was open is there", () => {
    expect(new Set(receiver.spans.map(({ spanId }) => spanId)).size).toBe(2 * SPANS_A_RUN);
  });
  expect(
    receiver.spans.length - new Set(receiver.spans.map((each) => JSON.stringify(each))).size,
  ).toBe(receiver.spans.length - 2 * SPANS_A_RUN);
  expect(stored).toBeLessThan(2 * SPANS_A_RUN);
  await until("all is settled", async () =>
    (await serve.metric("entelix_ingest_journal_position")) === 16 ? true : undefined,
  );
  expect(await serve.metric("entelix_ingest_open_runs")).toBe(0);
});

it("waits for no receiver when it ends, and loses nothing by that", async () => {
  let away = true;
  await using receiver = await OtlpServer.start({ answer: () => (away ? 503 : 200) });
  await using serve = await ServeProcess.start({ args: ["--endpoint", receiver.url] });
  await sendLines(serve.url, wholeRuns(1, "acme").flat());
  await until("it was tried", () => (receiver.requests.length > 0 ? true : undefined));
  await serve.stop();
  expect(receiver.spans).toEqual([]);
  away = false;
  await serve.start();
  await untilHolds("all spans are there", () => expect(receiver.spans.length).toBe(SPANS_A_RUN));
});

it("reads its tokens again at SIGHUP, and keeps them where the file can't be used", async () => {
  const file = (folder: string) => `${folder}/tokens.json`;
  const write = async (folder: string, text: string) => {
    await writeFile(`${folder}/new`, text);
    await rename(`${folder}/new`, file(folder));
  };
  await using serve = await ServeProcess.start(async (folder) => {
    await write(folder, JSON.stringify({ tokens: [entry("old", "acme")] }));
    return { args: ["--tokens", file(folder)] };
  });
  const status = async (token: string) => {
    const lines = wholeRuns(1, "acme").flat();
    return (await sendLines(serve.url, lines, { token })).status;
  };
  expect([await status("old"), await status("new")]).toEqual([200, 401]);
  await write(serve.folder, '{"tokens":[{"tenant":"acme"}]}');
  process.kill(serve.pid, "SIGHUP");
  await until("it says so", async () =>
    (await serve.log()).includes("tokens not reloaded: --tokens: ") ? true : undefined,
  );
  expect(await serve.log()).toContain("tokens[0].sha256: expected 64 hex digits");
  expect([await status("old"), await status("new")]).toEqual([200, 401]);
  await write(serve.folder, JSON.stringify({ tokens: [entry("new", "acme")] }));
  process.kill(serve.pid, "SIGHUP");
  await until("the new one is known", async () =>
    (await status("new")) === 200 ? true : undefined,
  );
  expect(await status("old")).toBe(401);
  expect(await serve.metric("entelix_ingest_token_reload_errors_total")).toBe(1);
});

it("takes a token that the command made", async () => {
  const made = await command(["token", "--tenant", "acme", "--metrics", "--rate", "100"]);
  const [token = "", text = ""] = made.stdout.split("\n");
  expect(token).toMatch(/^eot_[\w-]{43}$/);
  expect(JSON.parse(text)).toMatchObject({ tenant: "acme", metrics: true, rate: 100 });
  await using serve = await ServeProcess.start(async (folder) => {
    await writeFile(`${folder}/tokens.json`, `{"tokens":[${text}]}`);
    return { args: ["--tokens", `${folder}/tokens.json`] };
  });
  const sent = await sendLines(serve.url, wholeRuns(1, "acme").flat(), { token });
  expect(sent.results.map(({ status }) => status)).toEqual(Array(8).fill("accepted"));
  expect(await fetchText(`${serve.url}/metrics`)).toContain(
    'entelix_ingest_lines_total{tenant="acme",outcome="accepted"} 8\n',
  );
});

it("says what is wrong with how it is called", async () => {
  await using serve = await ServeProcess.start();
  const journal = serve.at("other");
  const port = new URL(serve.url).port;
  const calls: readonly (readonly [args: readonly string[], message: string])[] = [
    [[], "expected --journal DIR, the directory for accepted events"],
    [["--journal", journal, "--listen", "4321"], "--listen: expected HOST:PORT such as"],
    [["--journal", journal, "--listen", "0.0.0.0:0"], "--listen 0.0.0.0: expected --tokens FILE"],
    [["--journal", journal, "--listen", `127.0.0.1:${port}`], `127.0.0.1:${port} is in use`],
    [["--journal", serve.at("journal"), "--listen", "127.0.0.1:0"], "--journal: "],
    [["--journal", journal, "--max-line", "1 potato"], "--max-line: expected bytes from 1 to"],
    [["--journal", journal, "--max-lines", "-1"], "--max-lines: expected N after it"],
    [["--journal", journal, "--rate", "0"], "--rate: expected lines per second above 0"],
    [["--journal", journal, "--tokens", serve.at(v7())], "--tokens: "],
    [["--journal", journal, "--endpoint", "nowhere"], "--endpoint: expected an address"],
  ];
  for (const [args, message] of calls) {
    const { code, stderr, stdout } = await command(["serve", ...args]);
    expect(stderr).toContain(
      `entelix-otel: ${message.startsWith("127") ? "--listen: " : ""}${message}`,
    );
    expect([code, stdout]).toEqual([1, ""]);
  }
});
