import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AgentError } from "../../../src/events/errors/agent-error.ts";
import {
  failureKindFromEnvelope,
  toolErrorKindFromEnvelope,
} from "../../../src/events/errors/agent-error-tables.ts";
import {
  classifyFailure,
  classifyToolError,
  envelopeOf,
  renderForLlm,
} from "../../../src/events/errors/classify.ts";
import { setUnclassifiedWarning } from "../../../src/events/errors/classify-warning.ts";
import type { ErrorEnvelope, ToolErrorKind } from "../../../src/events/errors/error-kinds.ts";
import { type FailureKind, wireId } from "../../../src/events/errors/error-kinds.ts";

interface GoldenLine {
  readonly id: string;
  readonly error_display: string;
  readonly envelope: ErrorEnvelope;
  readonly tool_error_kind: ToolErrorKind;
  readonly error_for_llm: string;
  readonly failure_kind: FailureKind;
  readonly wire_id: string;
}

const http = AgentError.http;
const terminal = AgentError.toolErrorTerminal;
const breach = AgentError.usageLimitExceeded;

/** The same errors as the Rust program that recorded the file built. */
const ERRORS: Readonly<Record<string, AgentError>> = {
  invalid_request: AgentError.invalidRequest("max_tokens must be positive"),
  config: AgentError.config("model id missing"),
  provider_network: AgentError.network("connection reset by peer"),
  provider_tls: AgentError.tls("certificate expired"),
  provider_dns: AgentError.dns("no such host api.example.test"),
  provider_http_400: http(400, "bad request"),
  provider_http_401: http(401, "invalid api key"),
  provider_http_403: http(403, "forbidden"),
  provider_http_404: http(404, "model not found"),
  provider_http_408: http(408, "request timeout"),
  provider_http_422: http(422, "unprocessable"),
  provider_http_429: http(429, "quota exhausted"),
  provider_http_429_retry_after: http(429, "slow down", { retryAfterMs: 30_000 }),
  provider_http_500: http(500, "internal"),
  provider_http_503: http(503, "vendor down"),
  cancelled: AgentError.cancelled(),
  deadline_exceeded: AgentError.deadlineExceeded(),
  interrupted_custom: AgentError.interrupted({ type: "custom" }, { question: "go on?" }),
  model_retry: AgentError.modelRetry("output did not match schema", 2),
  serde: AgentError.serde("EOF while parsing a value at line 1 column 5"),
  auth_missing: AgentError.authMissing(),
  auth_missing_hint: AgentError.authMissing("env:API_KEY"),
  auth_refused: AgentError.authRefused("revoked"),
  auth_expired: AgentError.authExpired("token ttl"),
  usage_requests: breach({ axis: "requests", limit: 5, observed: 5 }),
  usage_input_tokens: breach({ axis: "input_tokens", limit: 1000n, observed: 1203n }),
  usage_output_tokens: breach({ axis: "output_tokens", limit: 500, observed: 777 }),
  usage_tool_calls: breach({ axis: "tool_calls", limit: 3, observed: 3 }),
  usage_cost_usd: breach({ axis: "cost_usd", limit: "0.50", observed: "0.5125" }),
  tool_terminal_auth: terminal("auth", "bigquery", http(401, "expired service account")),
  tool_terminal_quota: terminal("quota", "bigquery", http(429, "daily cap")),
  tool_terminal_validation: terminal(
    "validation",
    "bigquery",
    AgentError.invalidRequest("bad args"),
  ),
  tool_terminal_internal: terminal("internal", "bigquery", AgentError.config("tool bug")),
  tool_terminal_transient: terminal("transient", "salesforce", AgentError.network("timeout")),
  tool_terminal_permanent: terminal("permanent", "salesforce", http(410, "gone")),
};

const golden: readonly GoldenLine[] = readFileSync(
  new URL("../../golden/entelix_failure_kinds.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

beforeAll(() => setUnclassifiedWarning(() => {}));
afterAll(() => setUnclassifiedWarning());

describe("errors, line by line as upstream's", () => {
  it("covers every recorded line", () => {
    expect(golden.map((line) => line.id).sort()).toEqual(Object.keys(ERRORS).sort());
  });

  it.each(golden)("$id", (line) => {
    const error = ERRORS[line.id];
    expect(error?.message).toBe(line.error_display);
    expect(error?.envelope()).toEqual(line.envelope);
    expect(envelopeOf(error)).toEqual(line.envelope);
    expect(error?.forLlm()).toBe(line.error_for_llm);
    expect(renderForLlm(error)).toBe(line.error_for_llm);
    expect(classifyToolError(error)).toBe(line.tool_error_kind);
    expect(classifyFailure(error)).toEqual(line.failure_kind);
    expect(wireId(classifyFailure(error))).toBe(line.wire_id);
  });
});

describe("kinds derived from a recorded envelope", () => {
  it.each(golden)("$id: the failure kind, but never that it was terminal", (line) => {
    const derived = failureKindFromEnvelope(line.envelope);
    if (line.failure_kind.type !== "tool_error_terminal") {
      expect(derived).toEqual(line.failure_kind);
      return;
    }
    const source = ERRORS[line.id]?.cause;
    expect(derived).toEqual(classifyFailure(source));
  });

  it.each(golden)("$id: the tool error kind", (line) => {
    expect(toolErrorKindFromEnvelope(line.envelope)).toBe(line.tool_error_kind);
  });

  it.each(["never_heard_of", "", "constructor", "__proto__", "unclassified"])(
    "wire code %j, which upstream does not have, is not guessed",
    (wire_code) => {
      const envelope: ErrorEnvelope = { wire_code, wire_class: "server" };
      expect(failureKindFromEnvelope(envelope)).toEqual({ type: "unclassified" });
      expect(toolErrorKindFromEnvelope(envelope)).toBe("internal");
    },
  );

  it("tells a transient 4xx from a permanent one by its status", () => {
    const invalid = { wire_code: "upstream_invalid", wire_class: "client" } as const;
    expect(toolErrorKindFromEnvelope({ ...invalid, provider_status: 425 })).toBe("transient");
    expect(toolErrorKindFromEnvelope({ ...invalid, provider_status: 418 })).toBe("permanent");
    expect(toolErrorKindFromEnvelope(invalid)).toBe("permanent");
  });

  it("takes a retry hint of 0 s for one", () => {
    const limited = { wire_code: "rate_limited", wire_class: "client" } as const;
    expect(toolErrorKindFromEnvelope({ ...limited, retry_after_secs: 0 })).toBe("rate_limit");
    expect(toolErrorKindFromEnvelope(limited)).toBe("quota");
  });
});
