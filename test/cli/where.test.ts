import { describe, expect, it } from "vitest";
import { RunIds } from "../../src/entries/context.ts";
import { command } from "./support/any-process.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";

async function where(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await command(["where", ...args, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

describe("where", () => {
  it("knows a root run's trace from its id, whatever the case of its letters", async () => {
    const found = {
      trace_id: "018f3c7a000070008000000000000002",
      span_id: "8000000000000002",
      jaeger: "http://127.0.0.1:16686/trace/018f3c7a000070008000000000000002",
    };
    expect(await where(RUN)).toEqual(found);
    expect(await where(RUN.toUpperCase())).toEqual(found);
  });

  it("hashes tenant and run id where that is no UUID", async () => {
    expect(await where("r1", "--tenant", "acme")).toEqual({
      trace_id: "6dbcf892fc24da1baefbc0f8eacc3072",
      span_id: "aefbc0f8eacc3072",
      jaeger: "http://127.0.0.1:16686/trace/6dbcf892fc24da1baefbc0f8eacc3072",
    });
  });

  it("finds a child in its root's trace, and Jaeger behind a path", async () => {
    const child = "018f3c7a-0000-7000-9111-000000000003";
    expect(await where(child, "--root", RUN, "--jaeger", "https://ops.example/jaeger/")).toEqual({
      trace_id: "018f3c7a000070008000000000000002",
      span_id: "9111000000000003",
      jaeger: "https://ops.example/jaeger/trace/018f3c7a000070008000000000000002",
    });
  });

  it("prints where the second tenant's run of a UUID is, when the tenant is given", async () => {
    const { stdout } = await command(["where", RUN, "--tenant", "acme"]);
    expect(stdout.split("\n")).toEqual([
      "trace   018f3c7a000070008000000000000002",
      "span    8000000000000002",
      "Jaeger  http://127.0.0.1:16686/trace/018f3c7a000070008000000000000002",
      "",
      "If another tenant used this run ID first, the run of acme is here:",
      "trace   2b94dac6e00d5792cd80228c7351a5e8",
      "span    cd80228c7351a5e8",
      "Jaeger  http://127.0.0.1:16686/trace/2b94dac6e00d5792cd80228c7351a5e8",
      "",
    ]);
    const second = {
      trace_id: "2b94dac6e00d5792cd80228c7351a5e8",
      span_id: "cd80228c7351a5e8",
      jaeger: "http://127.0.0.1:16686/trace/2b94dac6e00d5792cd80228c7351a5e8",
    };
    expect(await where(RUN.toUpperCase(), "--tenant", "acme")).toMatchObject({ second });
    expect(RunIds.hashed("acme", RUN)).toMatchObject({
      traceId: second.trace_id,
      spanId: second.span_id,
    });
  });

  it("prints the trace of a second tenant's root for a child, whose span it can't know", async () => {
    const child = "018f3c7a-0000-7000-9111-000000000003";
    const { second } = Object(await where(child, "--root", RUN, "--tenant", "acme"));
    expect(second).toEqual({
      trace_id: "2b94dac6e00d5792cd80228c7351a5e8",
      jaeger: "http://127.0.0.1:16686/trace/2b94dac6e00d5792cd80228c7351a5e8",
    });
  });

  it("says in its help when the tenant is needed", async () => {
    const { stdout } = await command(["where", "--help"]);
    const text = stdout.replaceAll(/\s+/g, " ");
    expect(text).toContain("if another tenant used the run ID first");
    expect(text).toContain("--tenant prints both addresses");
  });

  it("knows a trace id that is given for a run id", async () => {
    const { code, stderr } = await command(["where", RUN.replaceAll("-", "")]);
    expect([code, stderr.split("\n")]).toEqual([
      1,
      [
        'entelix-otel: "018f3c7a000070008000000000000002" is not a UUID: its trace also depends on the tenant',
        `Add --tenant T. For a trace ID, use the run ID: ${RUN}`,
        "",
      ],
    ]);
  });

  it("asks for the tenant where it matters, and refuses addresses that are none", async () => {
    const [tenant, jaeger] = await Promise.all([
      command(["where", "r1"]),
      command(["where", RUN, "--jaeger", "ftp://x"]),
    ]);
    expect(tenant.stderr).toBe(
      'entelix-otel: "r1" is not a UUID: its trace also depends on the tenant\nAdd --tenant T\n',
    );
    expect(jaeger.stderr).toContain("--jaeger: expected an address such as http://127.0.0.1:16686");
    expect([tenant.code, jaeger.code]).toEqual([1, 1]);
  });
});
