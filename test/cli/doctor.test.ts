import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deadUrl, OtlpServer } from "../support/otlp-server.ts";
import { waitFor } from "../support/wait-for.ts";
import { command } from "./support/any-process.ts";
import { Folder } from "./support/folder.ts";

let server: OtlpServer;
beforeAll(async () => {
  server = await OtlpServer.start();
});
afterAll(() => server.close());

function fixture(name: string): string {
  return fileURLToPath(new URL(`./fixtures/${name}.mjs`, import.meta.url));
}

async function doctor(
  args: readonly string[],
  { cwd, env }: { cwd?: string; env?: Record<string, string> } = {},
) {
  return command(["doctor", ...args], {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: server.url, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
}

describe.concurrent("doctor and the receiver", () => {
  it("sends one empty request of each signal, with the headers of the environment, and finds all well", async () => {
    await using asked = await OtlpServer.start();
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: asked.url,
      OTEL_EXPORTER_OTLP_HEADERS: "x-key=secret",
    };
    const { code, stdout } = await doctor([], { env });
    expect(stdout).toContain(`✓ endpoint ${asked.url}/v1/traces takes spans\n`);
    expect(stdout).toMatch(/\nAll is well\.\n$/);
    expect(code).toBe(0);
    expect(stdout).toContain(`✓ endpoint ${asked.url}/v1/metrics takes metrics\n`);
    expect(
      asked.requests.map(({ headers, path, points, spans }) => [
        path,
        spans.length + points.length,
        headers["x-key"],
        headers["content-type"],
      ]),
    ).toEqual([
      ["/v1/traces", 0, "secret", "application/x-protobuf"],
      ["/v1/metrics", 0, "secret", "application/x-protobuf"],
    ]);
    expect(stdout).toContain("• OTEL_EXPORTER_OTLP_HEADERS=(hidden)");
    expect(stdout).not.toContain("secret");
  });

  it.each([
    [401, "OTEL_EXPORTER_OTLP_HEADERS"],
    [404, "OTLP/HTTP is usually on port 4318"],
    [400, "It may not take protobuf: try OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json."],
    [415, "The receiver does not take protobuf. Enable it there, or set"],
    [500, "See the receiver's log."],
  ])("says what to do when it answers %i", async (status, advice) => {
    await using refusing = await OtlpServer.start({ answer: () => status });
    const { code, stdout } = await doctor(["--endpoint", refusing.url]);
    expect(stdout).toContain(`✗ endpoint ${refusing.url}/v1/traces: HTTP ${status} `);
    expect(stdout).toContain("• metrics: not checked, the receiver takes no spans\n");
    expect(stdout).toContain(advice);
    expect([code, stdout.endsWith("\n1 problem found.\n")]).toEqual([2, true]);
  });

  it("asks in JSON where the environment says so", async () => {
    await using refusing = await OtlpServer.start({ answer: () => 415 });
    const env = { OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" };
    const { code, stdout } = await doctor(["--endpoint", refusing.url], { env });
    expect(refusing.requests.map(({ headers }) => headers["content-type"])).toEqual([
      "application/json",
    ]);
    expect(stdout).toContain("    The receiver does not take JSON. Enable it there, or set");
    expect(code).toBe(2);
  });

  it("says what to do when nobody is there, and hides what an address holds", async () => {
    const { host } = new URL(await deadUrl());
    const { code, stdout } = await doctor(["--endpoint", `http://me:pass@${host}`]);
    expect(stdout).toContain(`✗ endpoint http://${host}/v1/traces: connect ECONNREFUSED`);
    expect(stdout).toContain(
      `    Start npx entelix-otel view --listen ${new URL(`http://${host}`).port}, a collector or Jaeger there, or set --endpoint or`,
    );
    expect(stdout).not.toContain("pass");
    expect(code).toBe(2);
  });

  it("hides what an address of the environment holds that is none", async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "htp://me:s3cret@x y" };
    const { stdout, stderr } = await doctor([], { env });
    expect(stdout).toContain('got "htp://x y"');
    expect(stdout).toContain("• OTEL_EXPORTER_OTLP_ENDPOINT=htp://x y\n");
    expect(stdout + stderr).not.toContain("s3cret");
  });

  it.each(["--endpoint", "--replay-endpoint"])(
    "can't run with an address for %s that is none",
    async (option) => {
      const { code, stderr } = await doctor([option, "here"]);
      expect(stderr).toContain(`${option}: expected an address such as http`);
      expect(code).toBe(1);
    },
  );
});

/** A receiver that takes spans and no metrics, as Jaeger does: the second request is for those. */
function spansOnly(): Promise<OtlpServer> {
  return OtlpServer.start({ answer: (request) => (request === 1 ? 404 : 200) });
}

describe.concurrent("doctor and metrics", () => {
  it("finds a receiver without metrics to be wrong where the project sends some", async () => {
    await using jaeger = await spansOnly();
    const { code, stdout } = await doctor(["--endpoint", jaeger.url]);
    expect(stdout).toContain(`✓ endpoint ${jaeger.url}/v1/traces takes spans\n`);
    expect(stdout).toMatch(
      /\n✗ endpoint \S+\/v1\/metrics: HTTP 404 .*\n {4}Jaeger takes no metrics: send to a collector \(collector-config\.yaml\), or set OTEL_METRICS_EXPORTER=none\.\n/,
    );
    expect(code).toBe(2);
  });

  it("and only notes it where the project could not", async () => {
    using folder = new Folder();
    await using jaeger = await spansOnly();
    const { code, stdout } = await doctor(["--endpoint", jaeger.url], { cwd: folder.path });
    expect(stdout).toContain(`• endpoint ${jaeger.url}/v1/metrics: HTTP 404 `);
    expect(code).toBe(0);
  });

  it.each([
    ["OTEL_METRICS_EXPORTER", "none"],
    ["OTEL_SDK_DISABLED", "true"],
  ])("does not ask with %s=%s", async (name, value) => {
    await using asked = await OtlpServer.start();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: asked.url, [name]: value };
    const { stdout } = await doctor([], { env });
    expect(stdout).toContain("• metrics: not checked, no metrics are sent\n");
    expect(asked.requests.filter(({ path }) => path.endsWith("/metrics"))).toEqual([]);
  });

  it("asks where the variable for metrics says", async () => {
    await using asked = await OtlpServer.start();
    const env = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${asked.url}/own/metrics` };
    const { code, stdout } = await doctor([], { env });
    expect(stdout).toContain(`✓ endpoint ${asked.url}/own/metrics takes metrics\n`);
    expect([code, asked.requests.map(({ path }) => path)]).toEqual([0, ["/own/metrics"]]);
  });
});

describe.concurrent("doctor and the receiver of replays", () => {
  it("asks it for spans alone, where it is said to be", async () => {
    await using replays = await OtlpServer.start();
    const { code, stdout } = await doctor(["--replay-endpoint", replays.url]);
    expect(stdout).toContain(`✓ replay endpoint ${replays.url}/v1/traces takes spans\n`);
    expect([code, replays.requests.map(({ path }) => path)]).toEqual([0, ["/v1/traces"]]);
  });

  it("finds that it is not where it is said to be", async () => {
    const url = await deadUrl();
    const { code, stdout } = await doctor(["--replay-endpoint", url]);
    expect(stdout).toContain(`✗ replay endpoint ${url}/v1/traces: connect ECONNREFUSED`);
    expect([code, stdout.endsWith("\n1 problem found.\n")]).toEqual([2, true]);
  });

  it("says nothing of it where none was asked for and none is there, and takes port 4319 for what it is", async () => {
    const [live, mistaken] = await Promise.all([
      doctor(["--endpoint", "http://doctor.invalid:4318"]),
      doctor([], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://doctor.invalid:4319" } }),
    ]);
    expect(live.stdout).toContain("✗ endpoint http://doctor.invalid:4318/v1/traces: ");
    expect(live.stdout).not.toContain("replay");
    expect(mistaken.stdout).toMatch(
      /✗ endpoint \S+: port 4319 is for replays: .*\n {4}Send live spans to port 4318\./,
    );
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe.concurrent("doctor and the application", () => {
  it("recognises this package's id generator, and ends though the application would go on", async () => {
    const { code, stdout } = await doctor(["--import", fixture("our-setup")]);
    expect(stdout).toContain("✓ id generator: this package's");
    expect(stdout).toContain("✓ sampler of the application: Following{root=AlwaysOnSampler}");
    expect(stdout).toMatch(/• no meter provider is registered: .*\n {4}setupTelemetry\(\) from/);
    expect(code).toBe(0);
  });

  it("finds the meter provider that setupTelemetry registers", async () => {
    const { code, stdout } = await doctor(["--import", fixture("our-telemetry")]);
    expect(stdout).toContain("✓ a meter provider is registered\n");
    expect(stdout).not.toContain("service.instance.id");
    expect(stdout).toContain("✓ id generator: this package's");
    expect(code).toBe(0);
  });

  it("finds metrics that tell no process from another", async () => {
    const { code, stdout } = await doctor(["--import", fixture("foreign-metrics")]);
    expect(stdout).toMatch(
      /✓ a meter provider is registered\n• its resource has no service\.instance\.id: .*\n {4}Give each process/,
    );
    expect(code).toBe(0);
  });

  it("finds another id generator, and a sampler that keeps nothing", async () => {
    const { code, stdout } = await doctor(["--import", fixture("foreign-setup")]);
    expect(stdout).toContain("✗ id generator: another one, so trace ids are not run ids\n");
    expect(stdout).toContain("Pass createIdGenerator() from entelix-otel to your provider");
    expect(stdout).toContain(
      "• sampler of the application: TraceIdRatioBased{0}; it did not sample the test span",
    );
    expect(code).toBe(2);
  });

  it("checks the receiver in the code, with its headers, instead of that of the variables", async () => {
    await using inCode = await OtlpServer.start();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: await deadUrl(), IN_CODE: inCode.url };
    const { code, stdout } = await doctor(["--import", fixture("code-endpoint")], { env });
    expect(stdout).toContain(`✓ endpoint ${inCode.url}/v1/traces (in the code) takes spans\n`);
    expect(stdout).toContain(`✓ endpoint ${inCode.url}/v1/metrics takes metrics\n`);
    expect([code, ...inCode.requests.map(({ headers }) => headers["x-key"])]).toEqual([
      0,
      "in code",
      "in code",
    ]);
  });

  it("says what to change where nothing listens at the receiver in the code", async () => {
    const { code, stdout } = await doctor(["--import", fixture("code-endpoint")], {
      env: { IN_CODE: await deadUrl() },
    });
    expect(stdout).toMatch(/a collector or Jaeger there, or set `endpoint` in the code\.\n/);
    expect(code).toBe(2);
  });

  it("says that the code may name another receiver where it cannot know", async () => {
    const [none, foreign, ours] = await Promise.all([
      doctor([]),
      doctor(["--import", fixture("foreign-setup")]),
      doctor(["--import", fixture("our-setup")]),
    ]);
    const notOurs = "• FILE has no setup of this package: if its code names an endpoint";
    expect(none.stdout).toContain(
      "• id generator, and an `endpoint` in the code, which overrides the variables: not checked.",
    );
    expect(foreign.stdout).toContain(notOurs);
    expect(ours.stdout).not.toContain(notOurs);
  });

  it("says that a whole program has ended its setup, and checks it all the same", async () => {
    const { code, stdout } = await doctor(["--import", fixture("ended-setup")]);
    expect(stdout).toMatch(
      /\n• FILE has ended its setup: it is a whole program, .*\n {4}To check without .*\n✓ id generator: this package's/,
    );
    expect(stdout).not.toContain("no tracer provider is registered");
    expect(code).toBe(0);
  });

  it("finds that no provider is registered", async () => {
    const { code, stdout } = await doctor(["--import", fixture("no-setup")]);
    expect(stdout).toContain("✗ no tracer provider is registered: spans go nowhere\n");
    expect(code).toBe(2);
  });

  it.each([
    ["broken-setup", "broken-setup.mjs: no \\x1b[31mconfiguration\n"],
    ["gone", "gone.mjs: no such file\n"],
  ])("can't run when %s can't be loaded", async (name, message) => {
    const { code, stderr } = await doctor(["--import", fixture(name)]);
    expect(stderr).toMatch(/^entelix-otel: --import: /);
    expect(stderr).toContain(message);
    expect(code).toBe(1);
  });

  it.each(["whole-program", "waiting-setup"])(
    "does not end as if all were well when %s ends the process",
    async (name) => {
      const { code, stdout, stderr } = await doctor(["--import", fixture(name)]);
      expect(stderr).toContain(
        `${name}.mjs: it ended the process before it was loaded\nUse a file that only sets up tracing.\n`,
      );
      expect(stdout).not.toContain("All is well");
      expect(code).toBe(1);
    },
  );

  it.each(["busy-setup", "blocked-setup", "never-setup"])(
    "waits for no file that goes on for ever (%s), and says so",
    async (name) => {
      const { code, stdout, stderr } = await doctor([
        "--import",
        fixture(name),
        "--import-timeout",
        "1",
      ]);
      expect(stderr).toBe(
        `entelix-otel: --import: ${fixture(name)}: expected it to load within 1 s\n` +
          "It starts a server, computes for too long, or waits. " +
          "Use a file that only sets up tracing.\n",
      );
      expect(stdout).not.toContain("All is well");
      expect(code).toBe(1);
    },
  );

  it("keeps what the file prints out of its own output, and ends what it has started", async () => {
    const { code, stdout, stderr } = await doctor(["--import", fixture("loud-setup")]);
    expect(stdout).toContain("✗ no tracer provider is registered: spans go nowhere\n");
    expect(stdout).not.toContain("printed");
    const [, pid] = /^printed (\d+)\n/.exec(stderr) ?? [];
    expect(Number(pid)).toBeGreaterThan(1);
    // The process that the file has started is gone, or is about to be.
    await waitFor(() => expect(isAlive(Number(pid))).toBe(false));
    expect(code).toBe(2);
  });

  it("shows what a file said that ended the process", async () => {
    const { code, stderr } = await doctor(["--import", fixture("complaining-setup")]);
    expect(stderr).toBe(
      `no DATABASE_URL\nentelix-otel: --import: ${fixture("complaining-setup")}: it ended the process before it was loaded\n` +
        "Use a file that only sets up tracing.\n",
    );
    expect(code).toBe(1);
  });

  it.each(["0", "x", "3601"])("takes no --import-timeout of %s", async (text) => {
    const { code, stderr } = await doctor(["--import-timeout", text]);
    expect(stderr).toContain("--import-timeout: expected a whole number from 1 to 3600");
    expect(code).toBe(1);
  });

  it("ends when a file fails that has begun something", async () => {
    const { code, stderr } = await doctor(["--import", fixture("half-started")]);
    expect([code, stderr]).toEqual([
      1,
      `entelix-otel: --import: ${fixture("half-started")}: no configuration\n`,
    ]);
  });
});

describe.concurrent("doctor and the variables", () => {
  it.each([
    ["OTEL_TRACES_SAMPLER", "always_off", "traces that start here are not sampled"],
    ["OTEL_TRACES_SAMPLER", "sometimes", "expected always_on, always_off"],
    ["OTEL_BSP_MAX_QUEUE_SIZE", "-1", "OTEL_BSP_MAX_QUEUE_SIZE: expected a whole number from 1"],
    ["OTEL_SDK_DISABLED", "true", "OTEL_SDK_DISABLED=true: no spans are made"],
    ["OTEL_TRACES_EXPORTER", "none", "OTEL_TRACES_EXPORTER=none: spans go nowhere"],
    ["OTEL_TRACES_EXPORTER", "otlp, None", "expected none or others"],
    ["OTEL_SDK_DISABLED", "1", "OTEL_SDK_DISABLED: expected true or false"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "gRPC is not supported, http/protobuf is used"],
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "localhost:4318", "expected an address such as http://"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4318", "expected an address such as http://"],
    ["OTEL_EXPORTER_OTLP_TIMEOUT", "10", "it is in milliseconds"],
    ["OTEL_METRIC_EXPORT_TIMEOUT", "30", "it is in milliseconds"],
    ["OTEL_RESOURCE_ATTRIBUTES", "a=b=c", "OTEL_RESOURCE_ATTRIBUTES: expected name=value pairs"],
    ["OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "10", "cuts off attributes that alerts need"],
    ["OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "63", "cuts off run IDs and the audit log's hashes"],
    [
      "OTEL_METRICS_EXPORTER",
      "prometheus",
      "OTEL_METRICS_EXPORTER: expected otlp, console or none",
    ],
    [
      "OTEL_METRIC_EXPORT_INTERVAL",
      "often",
      "OTEL_METRIC_EXPORT_INTERVAL: expected a whole number",
    ],
    [
      "OTEL_METRIC_EXPORT_INTERVAL",
      "90000",
      "failures are reported late, and may be reported twice",
    ],
    ["OTEL_SEMCONV_STABILITY_OPT_IN", "http, gen_ai/dupe", "expected gen_ai_latest_experimental"],
  ])("finds %s=%s", async (name, value, said) => {
    const { code, stdout } = await doctor([], { env: { [name]: value } });
    const problems = stdout.split("\n").filter((line) => line.startsWith("✗"));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(said);
    expect(stdout).toContain(`• ${name}=${value}\n`);
    expect(code).toBe(2);
  });

  it.each<[Record<string, string>, string]>([
    [{}, "✓ spans are sent in http/protobuf (the default)\n"],
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" },
      "✓ spans are sent in http/protobuf (OTEL_EXPORTER_OTLP_PROTOCOL)\n",
    ],
    [
      {
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf",
      },
      "✓ spans are sent in http/protobuf (OTEL_EXPORTER_OTLP_TRACES_PROTOCOL)\n",
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json" },
      "✓ spans are sent in http/json (OTEL_EXPORTER_OTLP_TRACES_PROTOCOL)\n",
    ],
  ])("says what spans are sent in with %j, and whence", async (env, said) => {
    const { code, stdout } = await doctor([], { env });
    expect(stdout).toContain(said);
    expect(code).toBe(0);
  });

  it("finds each of two that keep spans from being sent", async () => {
    const env = { OTEL_SDK_DISABLED: "true", OTEL_TRACES_EXPORTER: "none" };
    const { stdout } = await doctor([], { env });
    expect(stdout.split("\n").filter((line) => line.startsWith("✗"))).toEqual([
      "✗ OTEL_SDK_DISABLED=true: no spans are made",
      "✗ OTEL_TRACES_EXPORTER=none: spans go nowhere",
    ]);
  });

  it("says nothing of how spans are sent where none are", async () => {
    const { stdout } = await doctor([], { env: { OTEL_TRACES_EXPORTER: "console" } });
    expect(stdout).not.toContain("spans are sent in");
  });

  it.each(["GEN_AI/DUP", "gen_ai_latest_experimental,http/dup", "database"])(
    "has nothing against OTEL_SEMCONV_STABILITY_OPT_IN=%s",
    async (value) => {
      const { code, stdout } = await doctor([], { env: { OTEL_SEMCONV_STABILITY_OPT_IN: value } });
      expect(stdout).not.toContain("expected gen_ai_latest_experimental");
      expect(code).toBe(0);
    },
  );

  it.each([
    ["OTEL_METRICS_EXPORTER", "none", "no metrics are sent, failures are counted from spans alone"],
    [
      "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
      "delta",
      "are only tested with cumulative",
    ],
    ["OTEL_LOG_LEVEL", "none", "it also hides what this package says on standard error"],
  ])("notes %s=%s", async (name, value, said) => {
    const { code, stdout } = await doctor([], { env: { [name]: value } });
    expect(stdout).toMatch(new RegExp(`\n• ${name}=${value}: .*${said}`));
    expect(code).toBe(0);
  });
});

describe.concurrent("doctor and the packages", () => {
  function install(directory: string, name: string, version: string): void {
    const path = join(directory, "node_modules", name);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "package.json"), JSON.stringify({ name, version }));
  }

  it("finds two versions of the API, and where they are", async () => {
    using folder = new Folder();
    install(folder.path, "@opentelemetry/api", "1.9.1");
    install(folder.path, "@opentelemetry/core", "2.12.0");
    install(folder.at("node_modules", "some-sdk"), "@opentelemetry/api", "1.10.0");
    install(folder.at("packages", "worker"), "@opentelemetry/core", "2.12.0");
    install(folder.path, "@opentelemetry/resources", "2.12.1");
    install(folder.at("node_modules", "some-sdk"), "@opentelemetry/resources", "2.12.0");
    const { code, stdout } = await doctor([], { cwd: folder.path });
    const places =
      "(node_modules/@opentelemetry/api, node_modules/some-sdk/node_modules/@opentelemetry/api)";
    expect(stdout).toContain(`✗ @opentelemetry/api: 2 copies, 1.10.0 and 1.9.1 ${places}`);
    expect(stdout).toContain("npm ls @opentelemetry/api");
    expect(stdout).toContain("• @opentelemetry/core: 2 copies, 2.12.0 (");
    expect(stdout).toContain("• @opentelemetry/resources: 2 copies, 2.12.0 and 2.12.1 (");
    expect(stdout).toContain("• entelix-otel/setup would need: @opentelemetry/sdk-trace\n");
    expect(stdout).toContain(
      "• entelix-otel/telemetry (metrics) would need: @opentelemetry/sdk-metrics\n",
    );
    expect(code).toBe(2);
  });

  it("finds that there is no SDK, unless a folder above has one", async () => {
    using folder = new Folder();
    const app = folder.at("packages", "app");
    install(app, "entelix-otel", "0.1.0");
    install(app, "@opentelemetry/api", "1.9.1");
    const without = await doctor([], { cwd: app });
    install(folder.path, "@opentelemetry/sdk-trace-base", "2.12.0");
    const above = await doctor([], { cwd: app });
    expect(without.stdout).toMatch(
      /\n✗ no OpenTelemetry SDK is installed: without one, no spans are made\n {4}npm install @opentelemetry\/sdk-trace /,
    );
    expect(above.stdout).not.toContain("no OpenTelemetry SDK");
    expect([without.code, above.code]).toEqual([2, 0]);
  });

  it("finds one copy of each to be well, and no package to be no trouble of its own", async () => {
    using folder = new Folder();
    const none = await doctor([], { cwd: folder.path });
    install(folder.path, "@opentelemetry/api", "1.9.1");
    const one = await doctor([], { cwd: folder.path });
    expect(none.stdout).toContain("• packages: none of OpenTelemetry below this directory\n");
    expect(one.stdout).toContain("✓ one copy each: api 1.9.1\n");
    expect([none.code, one.code]).toEqual([0, 0]);
  });
});
