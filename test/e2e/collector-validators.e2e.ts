import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { shipped } from "./support/stack.ts";

const MAIN = "collector-config.yaml";
const VALID = { valid: true };

// That each shipped configuration is valid as it is, validators.e2e.ts shows.
describe("the collector's validator", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "entelix-otel-validate-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function validate(
    configs: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly valid: boolean; readonly said: string }> {
    const args = ["validate", ...configs.flatMap((config) => ["--config", config])];
    const { collector = "" } = inject("serverPaths");
    const options = { env: { ...process.env, QUEUE_DIR: join(folder, "queue"), ...env } };
    return promisify(execFile)(collector, args, options).then(
      ({ stdout, stderr }) => ({ valid: true, said: stdout + stderr }),
      (error: unknown) => ({ valid: false, said: String(error) }),
    );
  }

  it("takes several brokers", async () => {
    const env = { KAFKA_BROKERS: "[one:9092, two:9092]" };
    const agent = [MAIN, "deploy/collector/agent-to-kafka.yaml"].map(shipped);
    expect(await validate(agent, env)).toMatchObject(VALID);
    const sampling = [shipped("deploy/collector/kafka-to-sampling.yaml")];
    expect(await validate(sampling, env)).toMatchObject(VALID);
  });

  it("takes the empty overlay of docker-compose.yml", async () => {
    expect(await validate([shipped(MAIN), "yaml:"])).toMatchObject(VALID);
  });

  it("refuses a token that is empty", async () => {
    const auth = [MAIN, "deploy/collector/auth.yaml"].map(shipped);
    expect(await validate(auth, { OTLP_TOKEN: "" })).toEqual({
      valid: false,
      said: expect.stringContaining("no bearer token"),
    });
  });

  it("refuses a statement that is wrong", async () => {
    const text = await readFile(shipped(MAIN), "utf8");
    const wrong = join(folder, "wrong.yaml");
    await writeFile(wrong, text.replace("truncate_all(span.attributes", "shorten(span.attributes"));
    expect(await validate([wrong])).toEqual({
      valid: false,
      said: expect.stringContaining('does not support the function "shorten"'),
    });
  });
});
