import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { consume } from "../../../src/cli/consume.ts";
import { kafkaClientOptions } from "../../../src/cli/services/kafka-client-options.ts";
import { reportRarely } from "../../../src/cli/services/reports.ts";
import { command } from "../support/any-process.ts";
import { memoryIo } from "../support/memory-io.ts";

const noWait = () => {};

describe("brokers, TLS and SASL", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "consume-options-"));
    await writeFile(join(folder, "ca.pem"), "authorities");
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("reads brokers, IPv6 ones too", async () => {
    expect(await kafkaClientOptions({ brokers: "kafka-1:9092, [::1]:9093" }, {}, noWait)).toEqual({
      clientId: "entelix-otel",
      bootstrapBrokers: ["kafka-1:9092", "[::1]:9093"],
    });
  });

  it.each([undefined, "", "kafka-1", "kafka-1:0", "kafka-1:70000", "http://k:9092", "a:1,,b:2"])(
    "refuses %j as brokers",
    async (brokers) => {
      await expect(kafkaClientOptions({ brokers }, {}, noWait)).rejects.toThrow(
        /^--brokers: expected/,
      );
    },
  );

  it("reads TLS files and credentials from where they are", async () => {
    const values = {
      brokers: "k:9093",
      tls: true,
      "tls-ca": join(folder, "ca.pem"),
      sasl: "scram-sha-512",
    };
    const env = { ENTELIX_KAFKA_USERNAME: "u", ENTELIX_KAFKA_PASSWORD: "p" };
    expect(await kafkaClientOptions(values, env, noWait)).toMatchObject({
      tls: { ca: "authorities" },
      sasl: { mechanism: "SCRAM-SHA-512", username: "u", password: "p" },
    });
    const token = { ...values, sasl: "OAUTHBEARER" };
    expect(await kafkaClientOptions(token, { ENTELIX_KAFKA_TOKEN: "t" }, noWait)).toMatchObject({
      sasl: { mechanism: "OAUTHBEARER", token: "t" },
    });
  });

  it.each([
    [{ "tls-ca": "x" }, /^--tls-ca: expected --tls with it/],
    [{ tls: true, "tls-cert": "x" }, /^--tls-cert and --tls-key: expected both/],
    [{ tls: true, "tls-ca": "/no/such/file" }, /^--tls-ca: ENOENT/],
    [{ sasl: "KERBEROS" }, /^--sasl: expected PLAIN, .*, got "KERBEROS"/],
    [{ sasl: "PLAIN", tls: true }, /expected the variable ENTELIX_KAFKA_USERNAME/],
  ])("refuses %o", async (values, message) => {
    await expect(kafkaClientOptions({ brokers: "k:1", ...values }, {}, noWait)).rejects.toThrow(
      message,
    );
  });

  it("does not send a password in the clear", async () => {
    const env = { ENTELIX_KAFKA_USERNAME: "u", ENTELIX_KAFKA_PASSWORD: "p" };
    await expect(
      kafkaClientOptions({ brokers: "k:1", sasl: "PLAIN" }, env, noWait),
    ).rejects.toThrow(/--sasl PLAIN: expected --tls with it/);
  });
});

describe("consume", () => {
  const GIVEN = [
    "--brokers",
    "k:1",
    "--topic",
    "t",
    "--dead-letter",
    "d",
    "--endpoint",
    "http://e",
  ];

  it.each([
    [["--brokers", "k:1"], /^--topic: expected/],
    [["--topic", "t"], /^--dead-letter: expected a topic for unreadable records, or none/],
    [["--topic", "t", "--dead-letter", "t"], /^--dead-letter: expected a topic other than/],
    [["--topic", "t", "--dead-letter", "d"], /^expected --endpoint or --audit/],
    [[...GIVEN, "--dialect", "klingon"], /^--dialect: expected one of auto, entelix/],
    [
      [...GIVEN, "--session-timeout", "3"],
      /^--session-timeout: expected a whole number from 6 to 600/,
    ],
    [[...GIVEN, "--grace", "0"], /^--grace: expected a whole number from 1 to 600/],
    [[...GIVEN, "--session-timeout", "9", "--grace", "9"], /^--grace: expected less than/],
    [[...GIVEN, "--lookback", "-1"], /^--lookback|argument/],
    [[...GIVEN, "--run-age", "soon"], /^--run-age: expected a whole number from 1 to/],
    [[...GIVEN, "--listen", "9464"], /^--listen: expected HOST:PORT/],
  ])("refuses %j", async (args, message) => {
    const { io } = memoryIo();
    await expect((async () => consume.run([...args], io))()).rejects.toThrow(message);
  });
});

describe("reportRarely", () => {
  it("tells the first at once, and those that follow as a count", () => {
    let now = 0;
    const told: string[] = [];
    const tell = reportRarely(
      (line) => told.push(line),
      () => now,
    );
    tell("a", "a at 0");
    tell("b", "b at 0");
    now = 29_999;
    tell("a", "a at 29");
    tell("a", "a at 29");
    now = 30_000;
    tell("a", "a at 30");
    expect(told).toEqual(["a at 0", "b at 0", "a at 30 (and 2 like it before)"]);
  });

  it("remembers a bounded number of kinds; the others are one", () => {
    const told: string[] = [];
    const tell = reportRarely(
      (line) => told.push(line),
      () => 0,
    );
    for (let kind = 0; kind < 1000; kind++) tell(`kind ${kind}`, `line ${kind}`);
    expect(told).toHaveLength(201);
  });

  it("forgets the kinds of long ago: what is new is told at once, whatever there was before", () => {
    let now = 0;
    const told: string[] = [];
    const tell = reportRarely(
      (line) => told.push(line),
      () => now,
    );
    for (let kind = 0; kind < 200; kind++) tell(`kind ${kind}`, `line ${kind}`);
    for (let kind = 0; kind < 100; kind++) tell(`kind ${kind}`, `line ${kind}`);
    now = 30_000;
    told.length = 0;
    for (let kind = 200; kind < 300; kind++) tell(`kind ${kind}`, `line ${kind}`);
    tell("kind 0", "line 0");
    expect(told).toHaveLength(101);
    expect(told.at(-1)).toBe("line 0 (and 1 like it before)");
    now = 600_000;
    for (let kind = 300; kind < 500; kind++) tell(`kind ${kind}`, `line ${kind}`);
    expect(told).toHaveLength(301);
  });
});

describe("consume's environment", () => {
  it("is told of where a variable says what it can't do", async () => {
    const args = ["consume", "--brokers", "127.0.0.1:1", "--topic", "t", "--dead-letter", "none"];
    const env = { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };
    const { code, stderr } = await command([...args, "--endpoint", "http://127.0.0.1:1"], { env });
    expect(stderr.split("\n")[0]).toBe(
      "OTEL_EXPORTER_OTLP_PROTOCOL=grpc: gRPC is not supported, http/protobuf is used: set the variable to it, and " +
        "the endpoint to the receiver's port for OTLP/HTTP, usually 4318",
    );
    // The package's own dependencies leave Kafka's client out.
    expect(stderr).toContain("@platformatic/kafka: it is not installed");
    expect(code).toBe(1);
  });
});
