import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OtlpServer } from "../../support/otlp-server.ts";
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

  it("leaves the end to a listener of the application's", async () => {
    await using server = await OtlpServer.start();
    const ending = await program.run(["own-listener", server.url], {}, ["SIGTERM"]);
    expect(ending).toEqual({ code: 7, signal: null, output: "ready\nheard\n" });
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

describe("a process that ends without a shutdown", () => {
  it("says on the console which spans were lost", async () => {
    await using server = await OtlpServer.start();
    const ending = await program.run(["forget", server.url]);
    expect(ending.code).toBe(0);
    expect(ending.output).toContain(
      "entelix-otel: exit: SpanLossError: 2 spans lost (unconfirmed 2) of 2 that ended",
    );
    expect(server.requests).toEqual([]);
  });

  it("is quiet about it where the operator asked for quiet", async () => {
    await using server = await OtlpServer.start();
    const ending = await program.run(["forget", server.url], { OTEL_LOG_LEVEL: "none" });
    expect(ending).toEqual({ code: 0, signal: null, output: "ready\n" });
  });
});
