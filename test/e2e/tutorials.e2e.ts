import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPage } from "../docs/pages.ts";
import { scraped } from "./support/last-word.ts";
import { Stack, shipped } from "./support/stack.ts";
import type { StoredSpan } from "./support/stored-span.ts";
import { untilHolds } from "./support/until.ts";

const run = promisify(execFile);

interface Ended {
  readonly stdout: string;
  readonly code: number;
}

/** The programs and commands of the tutorials, run as they stand there but for the ports. */
describe("the tutorials", () => {
  let stack: Stack;
  let folder: string;

  beforeAll(async () => {
    stack = await Stack.start({ servers: ["jaeger", "collector", "alertmanager", "prometheus"] });
    await scraped(stack);
    folder = await mkdtemp(join(tmpdir(), "entelix-otel-e2e-"));
    await mkdir(join(folder, "node_modules"));
    await symlink(shipped("."), join(folder, "node_modules/entelix-otel"));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await stack.stop();
  });

  /** Runs it in the folder, whatever it ends with. */
  async function node(args: readonly string[]): Promise<Ended> {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("OTEL_"));
    // A 60th of the interval, like every duration of the stack's rules.
    const env = { ...Object.fromEntries(inherited), OTEL_METRIC_EXPORT_INTERVAL: "250" };
    try {
      const { stdout } = await run(process.execPath, args, { cwd: folder, env });
      return { stdout, code: 0 };
    } catch (error) {
      if (!(error instanceof Error && "code" in error && "stdout" in error)) throw error;
      return { stdout: String(error.stdout), code: Number(error.code) };
    }
  }

  /** Runs the program of a page, changed as its steps say. */
  async function program(page: string, before = "", after = ""): Promise<Ended> {
    const [, text] = /^ {3}```js\n([\s\S]*?)^ {3}```$/m.exec(readPage(page)) ?? [];
    if (text?.includes(before) !== true) throw new Error(`${page}: expected a program`);
    const file = join(folder, "program.mjs");
    const changed = text.replace(before, after);
    await writeFile(file, changed.replace("http://127.0.0.1:4318", stack.endpoint));
    return node([file]);
  }

  const command = (...args: readonly string[]) => node([shipped("dist/cli/main.mjs"), ...args]);

  /** The spans of the run whose id a program printed, once they are in Jaeger. */
  async function spansOf({ stdout }: Ended): Promise<StoredSpan[]> {
    const runId = /^run (.*)$/m.exec(stdout)?.[1] ?? "";
    const where = await command("where", runId);
    const traceId = /^trace {3}(.*)$/m.exec(where.stdout)?.[1] ?? "";
    expect(traceId).toBe(runId.replaceAll("-", ""));
    await untilHolds("its spans are in Jaeger", async () => {
      expect((await stack.jaeger.trace(traceId)).map(({ name }) => name).sort()).toEqual([
        "chat small-1",
        "execute_tool look_up_order",
        "execute_tool refund",
        "invoke_agent support",
      ]);
    });
    return stack.jaeger.trace(traceId);
  }

  it("show the first trace, and why a run failed", async () => {
    const page = "docs/tutorial-trace.md";
    const [, before = "", after = ""] = /replace `([^`]+)` by `([^`]+)`/.exec(readPage(page)) ?? [];
    const succeeded = await program(page);
    expect(succeeded.code).toBe(0);
    const kinds = (await spansOf(succeeded)).map((span) => span.attributes["entelix.failure.kind"]);
    expect(kinds).toEqual([undefined, undefined, undefined, undefined]);
    const failed = await program(page, before, after);
    expect(failed.code).toBe(1);
    const root = (await spansOf(failed)).find(({ name }) => name === "invoke_agent support");
    expect(root?.attributes).toMatchObject({
      "entelix.failure.kind": "tool_error_terminal",
      "entelix.failure.tool_name": "refund",
      "entelix.failure.origin": "tool",
    });
  });

  it("raise the first alert, which leads to the run", async () => {
    expect((await program("docs/tutorial-alert.md")).stdout).toMatch(
      /^the run failed: .*overloaded\n$/,
    );
    await untilHolds("the alert fires", async () => {
      const alerts = await stack.prometheus.alerts();
      const ours = alerts.filter(({ labels }) => labels.job === "shop");
      expect(ours).toContainEqual({
        labels: expect.objectContaining({
          alertname: "EntelixModelDispatchFailed",
          entelix_tenant_id: "acme",
          entelix_failure_kind: "model_dispatch",
          severity: "ticket",
        }),
        state: "firing",
      });
    });
    // The alert may be faster than the trace.
    await untilHolds("the run is found", async () => {
      const found = await stack.jaeger.search({
        service: "shop",
        tags: { "entelix.failure.kind": "model_dispatch" },
      });
      expect(found).toHaveLength(1);
    });
  });

  it("answer the first audit question, and find the edit", async () => {
    const page = readPage("docs/tutorial-audit.md");
    await program("docs/tutorial-audit.md");
    const shown = await command("audit", "show", "./audit", "--tenant", "acme");
    const [, started, , , decided, refund] = shown.stdout.split("\n");
    expect(started).toMatch(/^ +1 .* entelix\.run_started .*"user_id":"u-7"/);
    expect(decided).toMatch(/^ +4 .* entelix\.tool_call_decided .*"person":"ann@acme\.test"/);
    expect(refund).toMatch(/^ +5 .* tool_call .*"refund".*"euros":40/);
    const intact = await command("audit", "verify", "./audit");
    expect(page).toContain(`\`${intact.stdout.trim()}\``);
    expect(intact.code).toBe(0);
    const segment = join(folder, "audit/segment-00000001.ndjson");
    const text = await readFile(segment, "utf8");
    await writeFile(segment, text.replace('"euros":40', '"euros":90'));
    const damaged = await command("audit", "verify", "./audit");
    expect(page).toContain(damaged.stdout.split("\n")[0]);
    expect(damaged.code).toBe(2);
  });
});
