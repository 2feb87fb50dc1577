import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { waitFor } from "../support/wait-for.ts";
import { command } from "./support/any-process.ts";
import { command as builtCommand } from "./support/command.ts";
import { Folder } from "./support/folder.ts";
import { line, RAW_CONTROL } from "./support/recorded.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const CHILD = "018f3c7a-0000-7000-8000-000000000003";
const OTHER = "018f3c7a-0000-7000-8000-000000000004";

/** Minutes before now, as an event's time. */
const before = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

const event = (type: string, minutes: number, fields: Readonly<Record<string, unknown>>) =>
  line({ type, timestamp: before(minutes), event_id: `${type}-${minutes}`, ...fields });

/** A run that waits for its child, which waits for a tool; and one of another tenant with odd names. */
const EVENTS = {
  acme: [
    event("started", 90, { agent: "planner", parent_run_id: null }),
    event("model_start", 80, { model_call_id: "m1", model: "small-1" }),
    event("model_complete", 79, {
      model_call_id: "m1",
      model: "small-1",
      duration_ms: 60_000,
      usage: { input_tokens: 1200, output_tokens: 340 },
    }),
    event("started", 45, { run_id: CHILD, agent: "expert", parent_run_id: RUN }),
    event("tool_start", 30, {
      run_id: CHILD,
      tool_use_id: "c1",
      tool: "lookup",
      tool_version: null,
      input: { question: "secret" },
    }),
  ],
  beta: [
    event("started", 10, {
      run_id: OTHER,
      tenant_id: "beta",
      agent: "\u001b[31mred\u202e",
      parent_run_id: null,
    }),
  ],
};

const TOKENS_OF = ["--tenant acme", "--tenant beta", "--runs", "--metrics"] as const;

interface Service {
  readonly url: string;
  /** A file for each kind of token. */
  readonly tokenFile: (of: (typeof TOKENS_OF)[number]) => string;
}

/** Runs the built service with these events played, and `work` on it. */
async function withService(
  tokens: boolean,
  work: (service: Service) => Promise<void>,
): Promise<void> {
  using folder = new Folder();
  const texts = new Map<string, string>();
  const args = ["serve", "--journal", folder.at("journal"), "--listen", "127.0.0.1:0"];
  if (tokens) {
    const entries: unknown[] = [];
    for (const of of TOKENS_OF) {
      const { stdout } = await command(["token", ...of.split(" ")]);
      const [text = "", entry = ""] = stdout.split("\n");
      texts.set(of, text);
      // As the command prints it.
      writeFileSync(folder.at(`${of}.txt`), stdout);
      entries.push(JSON.parse(entry));
    }
    writeFileSync(folder.at("tokens.json"), JSON.stringify({ tokens: entries }));
    args.push("--tokens", folder.at("tokens.json"));
  }
  const stop = new AbortController();
  let listening: (url: string) => void = () => {};
  const url = new Promise<string>((resolve) => {
    listening = resolve;
  });
  const ended = command(args, {
    signal: stop.signal,
    onStdout: (text) => {
      const found = /Listening on (\S+)/.exec(text)?.[1];
      if (found !== undefined) listening(found);
    },
  });
  ended.catch(() => {});
  try {
    const at = await Promise.race([
      url,
      ended.then(({ stderr }) => Promise.reject(new Error(stderr))),
    ]);
    for (const [tenant, lines] of Object.entries(EVENTS)) {
      const authorization = `Bearer ${texts.get(`--tenant ${tenant}`) ?? "none"}`;
      const sent = await fetch(`${at}/v1/events`, {
        method: "POST",
        headers: { "content-type": "application/x-ndjson", authorization },
        body: lines.join("\n"),
      });
      expect(await sent.json()).toMatchObject({ accepted: lines.length });
    }
    const service = { url: at, tokenFile: (of: string) => folder.at(`${of}.txt`) };
    await played(service, tokens ? ["--token-file", service.tokenFile("--runs")] : []);
    await work(service);
  } finally {
    stop.abort();
  }
}

/** Lines wait up to 5 s to be put in order. */
async function played({ url }: Service, token: readonly string[]): Promise<void> {
  await waitFor(async () => {
    const { stdout } = await command(["runs", "--url", url, ...token, "--json"]);
    expect(stdout).toContain(OTHER);
    expect(stdout).toContain('"lookup"');
  });
}

/** The ids that the command lists. */
async function listed(url: string, ...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await command(["runs", "--url", url, ...args, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  const answer: { readonly runs: readonly { readonly run_id: string }[] } = JSON.parse(stdout);
  return answer.runs.map(({ run_id }) => run_id);
}

describe("runs", () => {
  // Together, since both wait until the lines of a service are played.
  it.concurrent("lists what the open runs of a service wait for", async () => {
    await withService(false, async ({ url }) => {
      const { code, stdout, stderr } = await command(["runs", "--url", url]);
      expect([code, stderr]).toEqual([0, ""]);
      const rows = stdout.trimEnd().split("\n");
      expect(rows.map((row) => row.split(/ {2,}/))).toEqual([
        ["TENANT", "AGENT", "RUN", "AGE", "IDLE", "WAITS FOR", "TOKENS IN", "TOKENS OUT"],
        ["acme", "planner", RUN, "1 h 30 min", "45 min", "child expert", "1,200", "340"],
        ["acme", "expert", CHILD, "45 min", "30 min", "tool lookup"],
        ["beta", "\\x1b[31mred\\u202e", OTHER, "10 min", "10 min", "nothing"],
      ]);
      expect(stdout).not.toMatch(RAW_CONTROL);
      const json = await command(["runs", "--url", `${url}/`, "--json", "--limit", "1"]);
      expect(JSON.parse(json.stdout)).toMatchObject({
        left_out: 2,
        runs: [
          {
            tenant_id: "acme",
            run_id: RUN,
            trace_id: "018f3c7a000070008000000000000002",
            span_id: "8000000000000002",
            agent: "planner",
            waits_for: { kind: "child", name: "expert" },
            input_tokens: 1200,
            output_tokens: 340,
          },
        ],
      });
      expect(json.stdout).not.toContain("secret");
      const few = await command(["runs", "--url", url, "--limit", "1"]);
      expect(few.stderr).toBe("2 more runs left out. Use --limit, at most 1,000.\n");
      expect(await listed(url, "--tenant", "beta")).toEqual([OTHER]);
      expect(await listed(url, "--agent", "expert")).toEqual([CHILD]);
      expect(await listed(url, "--waits-for", "tool")).toEqual([CHILD]);
      expect(await listed(url, "--idle-over", "1200")).toEqual([RUN, CHILD]);
      const none = await command(["runs", "--url", url, "--agent", "nobody"]);
      expect([none.code, none.stdout, none.stderr]).toEqual([0, "", "No open runs.\n"]);
    });
  });

  it.concurrent("shows a tenant its own runs, and an operator all", async () => {
    await withService(true, async ({ tokenFile, url }) => {
      const of = (which: (typeof TOKENS_OF)[number]) => ["--token-file", tokenFile(which)];
      expect(await listed(url, ...of("--tenant acme"))).toEqual([RUN, CHILD]);
      expect(await listed(url, ...of("--tenant beta"))).toEqual([OTHER]);
      expect(await listed(url, ...of("--runs"))).toEqual([RUN, CHILD, OTHER]);
      const refusals: readonly (readonly [readonly string[], string])[] = [
        [[], "refused with 401: expected a token, as in Authorization: Bearer …"],
        [
          of("--metrics"),
          'refused with 403: expected a token of a tenant, or one with "runs": true',
        ],
        [
          [...of("--tenant acme"), "--tenant", "beta"],
          "refused with 403: expected tenant to be that of the token, or none",
        ],
      ];
      for (const [args, said] of refusals) {
        const { code, stdout, stderr } = await command(["runs", "--url", url, ...args]);
        expect([code, stdout]).toEqual([1, ""]);
        expect(stderr).toBe(
          `entelix-otel: ${url}/v1/runs: ${said}\nSet the token with --token-file or ENTELIX_SERVE_TOKEN.\n`,
        );
      }
      const env = { ENTELIX_SERVE_TOKEN: "eot_unknown" };
      const { code, stderr } = await command(["runs", "--url", url], { env });
      expect([code, stderr.split("\n")[0]]).toEqual([
        1,
        `entelix-otel: ${url}/v1/runs: refused with 401: expected a token that is known, as in Authorization: Bearer …`,
      ]);
    });
  });

  it.each([
    [["--waits-for", "tools"], "--waits-for: expected one of approval, tool, model, child"],
    [["--limit", "1001"], '--limit: expected a whole number from 1 to 1000, got "1001"'],
    [["--idle-over", "1m"], "--idle-over: expected a whole number from 0 to 1000000000"],
    [["--url", "localhost:4321"], "--url: expected an address such as http://127.0.0.1:4321"],
    [
      ["--url", "http://u:secret@localhost"],
      "--url: expected an address without user and password",
    ],
    [["--token-file", "/nowhere/token"], "--token-file: /nowhere/token: ENOENT"],
    [["--token-file", "/dev/null"], "--token-file: /dev/null: expected a token"],
  ])("refuses %j", async (args, said) => {
    const { code, stdout, stderr } = await command(["runs", ...args]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`entelix-otel: ${said}`);
    expect(stderr).not.toContain("u:secret");
  });

  it("says what else answers there, and that nothing does", async () => {
    const answers = ['{"at":"x","left_out":0,"runs":[{"tenant_id":1}]}', "<html>", "redirect"];
    const server = createServer((_, response) => {
      const body = answers.shift() ?? "";
      if (body === "redirect") response.writeHead(302, { location: "http://127.0.0.1:9/" });
      response.end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("expected a port");
    const url = `http://127.0.0.1:${address.port}`;
    const said = async () => {
      // In a process of its own: this one's connection to the server that ends is kept.
      const { code, stderr } = await builtCommand(["runs", "--url", url]);
      expect(code).toBe(1);
      return stderr.split("\n")[0]?.replace(`entelix-otel: ${url}/v1/runs: `, "");
    };
    expect(await said()).toBe("expected text in runs[0].tenant_id");
    expect(await said()).toBe("expected a JSON object");
    expect(await said()).toBe("unexpected redirect");
    await new Promise((resolve) => server.close(resolve));
    expect(await said()).toMatch(/^connect ECONNREFUSED/);
  });
});
