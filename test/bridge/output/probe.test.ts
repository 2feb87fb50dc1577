import { describe, expect, it } from "vitest";
import { describeFailure, StatusError } from "../../../src/bridge/export/attempt.ts";
import { probeOf } from "../../../src/bridge/output/otlp-endpoint.ts";

const answered = (detail: string | undefined, status = 400, words = "Bad Request") => ({
  error: new StatusError(status, words),
  detail,
});

describe("a failed request in a line", () => {
  it("has no more than 300 characters of what the receiver answers", () => {
    expect(describeFailure(answered("y".repeat(5_000)))).toBe(
      `HTTP 400 Bad Request: ${"y".repeat(300)}`,
    );
  });

  it.each([
    ['{"code":3,"message":"no"}', ': {"code":3,"message":"no"}'],
    ["{}", ""],
    [undefined, ""],
  ])("has any answer as it is: %j", (detail, shown) => {
    expect(describeFailure(answered(detail))).toBe(`HTTP 400 Bad Request${shown}`);
  });

  it("tells an answer from none, and one that is to be asked again from both", () => {
    const gone = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    expect(probeOf(answered("no"))).toEqual({
      ok: false,
      status: 400,
      busy: false,
      detail: "HTTP 400 Bad Request: no",
    });
    expect(probeOf(answered("full", 503, "Service Unavailable"))).toEqual({
      ok: false,
      status: undefined,
      busy: true,
      detail: "HTTP 503 Service Unavailable (it takes nothing now): full",
    });
    const detail = "connect ECONNREFUSED";
    expect(probeOf({ error: gone })).toEqual({ ok: false, status: undefined, busy: false, detail });
    expect(probeOf(undefined)).toEqual({ ok: true, status: undefined, busy: false, detail: "" });
  });
});
