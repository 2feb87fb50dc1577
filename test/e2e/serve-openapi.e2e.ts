import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, inject, it } from "vitest";
import { readText } from "../support/golden.ts";
import { ServeProcess } from "./support/serve-process.ts";

const HOOKS = fileURLToPath(new URL("programs", import.meta.url));
const TOKEN = "fuzzed";
/**
 * Not asked: whether each body that fits the schema is taken, and no other. A body is text to OpenAPI;
 * what is wrong in a line is told in a 200, and the hooks send gzip that is none on purpose.
 */
const NOT_ASKED = "positive_data_acceptance,negative_data_rejection";

it("a fuzzer on the OpenAPI document finds no 5xx, and nothing the document does not say", async () => {
  await using serve = await ServeProcess.start(async (folder) => {
    const sha256 = createHash("sha256").update(TOKEN).digest("hex");
    await writeFile(
      `${folder}/tokens.json`,
      JSON.stringify({ tokens: [{ tenant: "acme", sha256, metrics: true }] }),
    );
    const names = ["entelix_events", "agent_sdk_events", "defect_events"];
    const lines = names.map((name) => readText(`golden/${name}.jsonl`)).join("\n");
    await writeFile(`${folder}/events.jsonl`, lines);
    return { args: ["--tokens", `${folder}/tokens.json`, "--max-line", "4KiB"] };
  });
  const { stdout } = await promisify(execFile)(
    inject("serverPaths").schemathesis ?? "",
    [
      ...["-m", "schemathesis.cli", "run"],
      `${serve.url}/openapi.json`,
      ...["--header", `Authorization: Bearer ${TOKEN}`],
      ...["--checks", "all", "--exclude-checks", NOT_ASKED],
      ...["--max-examples", "150", "--seed", "1", "--no-color", "--continue-on-failure"],
    ],
    {
      cwd: serve.folder,
      env: {
        ...process.env,
        SCHEMATHESIS_HOOKS: "openapi_hooks",
        EVENT_LINES: serve.at("events.jsonl"),
        PYTHONPATH: HOOKS,
        PYTHONDONTWRITEBYTECODE: "1",
      },
    },
  ).catch((error: { readonly stdout?: string; readonly stderr?: string }) => {
    throw new Error(`schemathesis: ${error.stdout}\n${error.stderr}`);
  });
  expect(stdout).toMatch(/ (\d+) generated, \1 passed/);
  expect(Number(/ (\d+) generated/.exec(stdout)?.[1])).toBeGreaterThan(150);
  // It was events that were sent, and not only nonsense.
  for (const outcome of ["accepted", "rejected"]) {
    const text = await (await fetch(`${serve.url}/metrics`)).text();
    const [, count = ""] =
      new RegExp(`lines_total\\{tenant="acme",outcome="${outcome}"\\} (\\d+)`).exec(text) ?? [];
    expect(Number(count)).toBeGreaterThan(100);
  }
  // What goes wrong in the service is told with its time.
  expect(await serve.log()).not.toMatch(/^\d{4}-\S+Z /m);
});
