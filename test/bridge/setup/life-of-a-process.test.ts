import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deadUrl, OtlpServer } from "../../support/otlp-server.ts";
import { Program } from "./child-process.ts";

let program: Program;
beforeAll(async () => {
  program = await Program.build("./life-program.ts");
});
afterAll(() => program.remove());

const outcomes = (server: OtlpServer) =>
  server.spans.map((span) => span.attributes["entelix.run.outcome"]);

describe("handleSignals", () => {
  it.each<NodeJS.Signals>(["SIGTERM", "SIGINT"])(
    "closes and sends at %s, which then has its effect",
    async (signal) => {
      await using server = await OtlpServer.start();
      const ending = await program.run(["wait", server.url], {}, [signal]);
      expect(ending).toEqual({ code: null, signal, output: "ready\n" });
      expect(outcomes(server)).toEqual(["abandoned"]);
    },
  );

  it.each(["own-listener", "once"])(
    "leaves the end to a listener of the application's: %s",
    async (way) => {
      await using server = await OtlpServer.start();
      const ending = await program.run([way, server.url], {}, ["SIGTERM"]);
      expect(ending).toEqual({ code: 7, signal: null, output: "ready\nheard\n" });
      expect(outcomes(server)).toEqual(["abandoned"]);
    },
  );

  it("ends the process when all setups have sent", async () => {
    await using server = await OtlpServer.start();
    const ending = await program.run(["two", server.url], {}, ["SIGTERM"]);
    expect(ending).toEqual({ code: null, signal: "SIGTERM", output: "ready\n" });
    expect(outcomes(server)).toEqual(["abandoned"]);
  });

  it("lets a second signal end the process at once", async () => {
    await using server = await OtlpServer.start();
    const ending = await program.run(["impatient", server.url], {}, ["SIGTERM", "SIGINT"]);
    expect([ending.code, ending.signal]).toEqual([null, "SIGINT"]);
  });

  it("is off unless asked for", async () => {
    await using server = await OtlpServer.start();
    const ending = await program.run(["deaf", server.url], {}, ["SIGTERM"]);
    expect(ending).toEqual({ code: null, signal: "SIGTERM", output: "ready\n" });
    expect(server.requests).toEqual([]);
  });
});

describe("handleErrors", () => {
  it.each(["throw", "reject"])("closes and sends at an uncaught error, by %s", async (way) => {
    await using server = await OtlpServer.start();
    const ending = await program.run([way, server.url]);
    expect([ending.code, ending.signal]).toEqual([1, null]);
    expect(ending.output).toContain("Error: no such order");
    expect(outcomes(server)).toEqual(["abandoned"]);
  });

  it("lets a second error end the process at once", async () => {
    await using server = await OtlpServer.start();
    const ending = await program.run(["twice", server.url]);
    expect(ending.code).toBe(1);
    expect(ending.output).toContain("Error: the second");
  });

  it("leaves the end to a listener of the application's", async () => {
    await using server = await OtlpServer.start();
    const ending = await program.run(["own-errors", server.url]);
    expect(ending).toEqual({ code: 9, signal: null, output: "ready\nheard\n" });
    expect(outcomes(server)).toEqual(["abandoned"]);
  });

  it("is off unless asked for", async () => {
    await using server = await OtlpServer.start();
    const ending = await program.run(["crash", server.url]);
    expect(ending.code).toBe(1);
    expect(ending.output).toContain("Error: no such order");
    expect(server.requests).toEqual([]);
  });
});

describe("a process that ends without a shutdown", () => {
  it.each([
    ["forget", ["complete", undefined]],
    ["forget-open", ["abandoned"]],
    // A listener of the application starts a run when there is nothing else to do.
    ["forget-last", ["complete", "complete", undefined, undefined]],
  ])("sends before it ends by itself: %s", async (way, expected) => {
    await using server = await OtlpServer.start();
    const ending = await program.run([way, server.url]);
    expect(ending).toEqual({ code: 0, signal: null, output: "ready\n" });
    expect(outcomes(server).sort()).toEqual(expected);
  });

  it("sends before a signal that comes meanwhile has its effect", async () => {
    await using server = await OtlpServer.start();
    const ending = await program.run(["idle-signal", server.url]);
    expect(ending).toEqual({ code: null, signal: "SIGTERM", output: "ready\n" });
    expect(outcomes(server)).toEqual(["abandoned"]);
  });

  it("sends before an error that comes meanwhile ends the process", async () => {
    await using server = await OtlpServer.start();
    const ending = await program.run(["idle-error", server.url]);
    expect(ending.code).toBe(1);
    expect(ending.output).toContain("Error: no such order");
    expect(outcomes(server)).toEqual(["abandoned"]);
  });

  it("sends spans and metrics", async () => {
    await using server = await OtlpServer.start();
    await program.run(["forget", server.url, "telemetry"]);
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/traces", "/v1/metrics"]);
    const runs = server.points("entelix.runs").filter(({ value }) => value > 0);
    expect(runs.map(({ attributes, value }) => [attributes["entelix.run.outcome"], value])).toEqual(
      [["complete", 1]],
    );
  });

  it.each([
    ["exit", "2 spans lost (unconfirmed 2) of 2 that ended"],
    ["exit-open", "1 spans lost (open 1) of 0 that ended and 1 that did not"],
  ])("says at process.exit which spans were lost, and what to do: %s", async (way, lost) => {
    await using server = await OtlpServer.start();
    const ending = await program.run([way, server.url]);
    expect(ending.code).toBe(4);
    expect(ending.output).toBe(
      `entelix-otel: exit: SpanLossError: ${lost}: ` +
        "call `await shutdown()` of the setup in `finally` and before process.exit, " +
        "or set `handleErrors`\n",
    );
    expect(server.requests).toEqual([]);
  });

  it("is quiet about it where the operator asked for quiet", async () => {
    await using server = await OtlpServer.start();
    const ending = await program.run(["exit", server.url], { OTEL_LOG_LEVEL: "none" });
    expect(ending).toEqual({ code: 4, signal: null, output: "" });
  });
});

describe("after the shutdown", () => {
  const PROTOBUF = {};
  const JSON_SPANS = { OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" };

  it.each([
    ["refuses connections", undefined, PROTOBUF],
    ["refuses connections", undefined, JSON_SPANS],
    ["does not answer", "hang", PROTOBUF],
    ["does not answer", "hang", JSON_SPANS],
    ["is unavailable", 503, PROTOBUF],
    ["is unavailable", 503, JSON_SPANS],
  ] as const)(
    "nothing keeps the process alive where the endpoint %s",
    async (_, answer, variables) => {
      await using server = await OtlpServer.start({ answer: () => answer ?? 200 });
      const url = answer === undefined ? await deadUrl() : server.url;
      const ending = await program.run(["done", url, "telemetry"], variables);
      expect(ending.output).toContain("holds: \n");
      expect(ending.output).toContain("the last metrics were not sent within 1000 ms");
    },
  );
});
