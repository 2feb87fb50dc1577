import { describe, expect, it } from "vitest";
import { command } from "./support/command.ts";

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

  it("names the other place a UUID run can be at, when the tenant is given", async () => {
    const { stdout } = await command(["where", RUN, "--tenant", "acme"]);
    expect(stdout).toContain("trace   018f3c7a000070008000000000000002\n");
    expect(stdout).toContain("trace   2b94dac6e00d5792cd80228c7351a5e8\n");
  });

  it("knows a trace id that is given for a run id", async () => {
    const { code, stderr } = await command(["where", RUN.replaceAll("-", "")]);
    expect([code, stderr.split("\n")]).toEqual([
      1,
      [
        'entelix-otel: "018f3c7a000070008000000000000002" is no UUID: its trace depends on the tenant too',
        `Say which: --tenant T. Or is it a trace id? The run's has dashes: ${RUN}`,
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
      'entelix-otel: "r1" is no UUID: its trace depends on the tenant too\nSay which: --tenant T\n',
    );
    expect(jaeger.stderr).toContain("--jaeger: expected an address such as http://127.0.0.1:16686");
    expect([tenant.code, jaeger.code]).toEqual([1, 1]);
  });
});
