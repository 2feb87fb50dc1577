import { describe, expect, it } from "vitest";
import { adviceOn } from "../../../src/bridge/export/advice.ts";
import { StatusError } from "../../../src/bridge/export/attempt.ts";

const REQUEST = {
  url: "http://h/v1/traces",
  signal: "TRACES",
  isJson: false,
  proxy: undefined,
} as const;

describe("what to do about a failed request", () => {
  it.each([
    ["self-signed certificate", "OTEL_EXPORTER_OTLP_CERTIFICATE"],
    ["unable to verify the first certificate", "OTEL_EXPORTER_OTLP_CERTIFICATE"],
    ["certificate has expired", "Its certificate is not valid"],
    [
      "Hostname/IP does not match certificate's altnames: IP: 127.0.0.1",
      "a host name that it contains",
    ],
    [
      "write EPROTO 80: error:0A00010B:SSL routines::wrong version number",
      "http:// instead of https://",
    ],
    ["getaddrinfo ENOTFOUND collector", "cannot be resolved"],
    ["tlsv13 alert certificate required", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"],
  ])("without an answer: %s", (message, advice) => {
    expect(adviceOn({ error: new Error(message) }, REQUEST)).toContain(advice);
  });

  it.each([
    [401, "OTEL_EXPORTER_OTLP_HEADERS"],
    [404, "at the path /v1/traces"],
    [407, "the proxy's address"],
    [415, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json"],
    [301, "redirects"],
  ])("with an answer: %i", (status, advice) => {
    expect(adviceOn({ error: new StatusError(status, "") }, REQUEST)).toContain(advice);
  });

  it("with an answer about the path: 400", () => {
    const failure = { error: new StatusError(400, "Bad Request"), detail: "unsupported path" };
    expect(adviceOn(failure, REQUEST)).toContain("/opentelemetry/v1/metrics");
    expect(adviceOn({ ...failure, detail: "bad span" }, REQUEST)).toBeUndefined();
  });

  it("is left out where the error says all", () => {
    expect(adviceOn({ error: new Error("socket hang up") }, REQUEST)).toBeUndefined();
    expect(adviceOn({ error: new StatusError(500, "") }, REQUEST)).toBeUndefined();
  });
});
