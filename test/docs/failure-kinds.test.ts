import { describe, expect, it } from "vitest";
import {
  FAILURE_KIND_IDS,
  failureKindFromEnvelope,
  parseExact,
  TOOL_ERROR_KINDS,
  toolErrorKindFromEnvelope,
} from "../../src/entries/events.ts";
import {
  AgentError,
  classifyFailure,
  classifyToolError,
  envelopeOf,
  renderForLlm,
  setUnclassifiedWarning,
} from "../../src/index.ts";
import { readPage, section, tableRows } from "./pages.ts";

const page = readPage("docs/failure-kinds.md");
const codes = tableRows(section(page, "Wire codes"));

setUnclassifiedWarning(() => {});

describe("the two sets", () => {
  it("are whole and in the order of the code", () => {
    const first = (heading: string) => tableRows(section(page, heading)).map(([id]) => id);
    expect(first("Why a run failed")).toEqual([...FAILURE_KIND_IDS]);
    expect(first("What went wrong in a tool call")).toEqual([...TOOL_ERROR_KINDS]);
  });
});

describe("the wire codes", () => {
  /** What a row's first cell says beside the code. */
  const more: Readonly<Record<string, object>> = {
    "with retry_after_secs": { retry_after_secs: 30 },
    without: {},
    "of 408 or 425": { provider_status: 408 },
    else: { provider_status: 404 },
  };

  it.each(codes)("%s is what the code says", (cell = "", wireClass = "", failure, tool) => {
    const [, wire_code = "", rest] = /^(\w+)(?: (.*))?$/.exec(cell) ?? [];
    const beside = rest === undefined ? {} : more[rest];
    expect(beside).toBeDefined();
    const envelope = {
      wire_code,
      wire_class: wireClass === "client" ? "client" : "server",
      ...beside,
    } as const;
    expect(failureKindFromEnvelope(envelope)).toEqual({ type: failure });
    expect(toolErrorKindFromEnvelope(envelope)).toBe(tool);
  });

  it("hold for every error there is, with its class", () => {
    const http = Array.from({ length: 200 }, (_, n) => AgentError.http(400 + n, "no"));
    const errors = [
      ...http,
      AgentError.http(429, "slow", { retryAfterMs: 1_000 }),
      AgentError.network("x"),
      AgentError.tls("x"),
      AgentError.dns("x"),
      AgentError.authMissing(),
      AgentError.authRefused("x"),
      AgentError.authExpired(),
      AgentError.authSourceUnreachable("x"),
      AgentError.modelRetry("x", 1),
      AgentError.invalidRequest("x"),
      AgentError.config("x"),
      AgentError.serde("x"),
      AgentError.cancelled(),
      AgentError.deadlineExceeded(),
      AgentError.interrupted({ type: "custom" }),
      AgentError.usageLimitExceeded({ axis: "requests", limit: 1, observed: 2 }),
    ];
    const classes = new Map(codes.map(([cell = "", wireClass]) => [cell.split(" ")[0], wireClass]));
    for (const error of errors) {
      const { wire_class, wire_code } = error.envelope();
      expect([wire_code, classes.get(wire_code)]).toEqual([wire_code, wire_class]);
    }
    const made = new Set(errors.map((error) => error.envelope().wire_code));
    // Of entelix's codes only one is read and never made; the last is for what nothing matches.
    const others = [...classes.keys()].filter((code) => code === undefined || !made.has(code));
    expect(others).toEqual(["upstream_error", "unclassified"]);
  });
});

describe("what JavaScript throws", () => {
  const fetchFailed = (code: string) =>
    new TypeError("fetch failed", { cause: Object.assign(new Error("connect"), { code }) });
  const httpError = (status: number, headers = {}) =>
    Object.assign(new Error("no"), { status, headers });
  const named = (name: string) => Object.assign(new Error("no key"), { name });
  const retryInfo = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "36s" };
  const circle: { self?: unknown } = {};
  circle.self = circle;

  const thrown: Readonly<Record<string, readonly (() => unknown)[]>> = {
    "the AbortError of an aborted signal": [() => AbortSignal.abort().throwIfAborted()],
    "the TimeoutError of AbortSignal.timeout": [
      () => {
        throw new DOMException("The operation was aborted due to timeout", "TimeoutError");
      },
    ],
    "fetch failed, caused by ECONNREFUSED": [() => fetchFailed("ECONNREFUSED")],
    "fetch failed, caused by ENOTFOUND": [() => fetchFailed("ENOTFOUND")],
    "fetch failed, caused by CERT_HAS_EXPIRED": [() => fetchFailed("CERT_HAS_EXPIRED")],
    "HTTP 429 with retry-after, or Google's RetryInfo": [
      () => httpError(429, { "retry-after": "7" }),
      () => Object.assign(new Error("no"), { status: 429, errorDetails: [retryInfo] }),
    ],
    "HTTP 429 without": [() => httpError(429)],
    "HTTP 401 or 403": [() => httpError(401), () => httpError(403)],
    "HTTP 408 or 425": [() => httpError(408), () => httpError(425)],
    "any other HTTP 4xx": [() => httpError(404), () => httpError(422)],
    "HTTP 5xx": [() => httpError(500), () => httpError(529)],
    "an error that OpenAI, Anthropic or AWS sent in the middle of a stream": [
      () => Object.assign(new Error("slow down"), { $fault: "client", $metadata: undefined }),
      () =>
        Object.assign(new Error("Overloaded"), {
          name: "APIError",
          status: undefined,
          error: { type: "overloaded_error" },
        }),
    ],
    "the AI SDK's missing API key": [() => named("AI_LoadAPIKeyError")],
    "the AI SDK's NoOutputGeneratedError and its like, OpenAI's LengthFinishReasonError": [
      () => named("AI_NoOutputGeneratedError"),
      () => named("AI_NoObjectGeneratedError"),
      () => named("LengthFinishReasonError"),
    ],
    "the AI SDK's missing setting": [() => named("AI_LoadSettingError")],
    "the SyntaxError of JSON.parse or parseExact": [() => JSON.parse("{"), () => parseExact("{")],
    "the TypeError of JSON.stringify on a circle": [() => JSON.stringify(circle)],
    "a schema library's issues": [
      () => ({ issues: [{ message: "Invalid", expected: "string", path: [] }] }),
    ],
    "anything else": [() => new RangeError("odd"), () => "a text", () => undefined],
  };

  const rows = tableRows(section(page, "What JavaScript throws"));

  it("is shown case by case", () => {
    expect(rows.map(([label]) => label)).toEqual(Object.keys(thrown));
  });

  it.each(rows)("%s", (label = "", failure, tool, code, told) => {
    for (const make of thrown[label] ?? []) {
      let value: unknown;
      try {
        value = make();
      } catch (error) {
        value = error;
      }
      expect(classifyFailure(value)).toEqual({ type: failure });
      expect(classifyToolError(value)).toBe(tool);
      expect(envelopeOf(value).wire_code).toBe(code);
      expect(renderForLlm(value)).toBe(told);
    }
    expect.hasAssertions();
  });
});
