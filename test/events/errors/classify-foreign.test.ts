import { createServer } from "node:http";
import { connect, constants, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AgentError, isAgentError } from "../../../src/events/errors/agent-error.ts";
import { asAgentError } from "../../../src/events/errors/as-agent-error.ts";
import {
  classifyFailure,
  classifyToolError,
  envelopeOf,
  renderForLlm,
} from "../../../src/events/errors/classify.ts";
import { setUnclassifiedWarning } from "../../../src/events/errors/classify-warning.ts";
import { CLIENT_ERRORS, DATA_ERRORS, NODE_ERRORS } from "./foreign-errors.ts";
import { RPC_ERRORS, VAGUE_RPC_ERRORS } from "./foreign-rpc-errors.ts";

beforeAll(() => setUnclassifiedWarning(() => {}));
afterAll(() => setUnclassifiedWarning());

describe.each([
  ["clients", CLIENT_ERRORS],
  ["MCP and gRPC", RPC_ERRORS],
  ["Node", NODE_ERRORS],
  ["data", DATA_ERRORS],
])("what %s throw", (_, cases) => {
  it.each(cases)("$name is $failure, $tool, $code", ({ thrown, failure, tool, code }) => {
    expect(classifyFailure(thrown).type).toBe(failure);
    expect(classifyToolError(thrown)).toBe(tool);
    expect(envelopeOf(thrown).wire_code).toBe(code);
    const known = asAgentError(thrown);
    expect(isAgentError(known)).toBe(true);
    expect(known?.cause).toBe(thrown);
  });
});

it("guesses nothing of what MCP's and gRPC's clients say no more of", () => {
  expect(VAGUE_RPC_ERRORS.map(asAgentError)).toEqual(VAGUE_RPC_ERRORS.map(() => undefined));
});

it("tells the model nothing of an MCP server's words", () => {
  const refused = RPC_ERRORS.find(
    ({ name }) => name === "MCP 1, parameters that the server refused",
  );
  expect(renderForLlm(refused?.thrown)).toBe(
    "invalid input: the MCP server refused the parameters",
  );
});

describe("what the envelope keeps of a client's error", () => {
  it("has the status and the whole seconds to wait", () => {
    const [openai] = CLIENT_ERRORS;
    expect(envelopeOf(openai?.thrown)).toEqual({
      wire_code: "rate_limited",
      wire_class: "client",
      retry_after_secs: 7,
      provider_status: 429,
    });
  });

  it("has the wait that Google says in the body, in whole seconds", () => {
    const google = CLIENT_ERRORS.find(({ name }) =>
      name.startsWith("google generative-ai 0.24 429"),
    );
    expect(envelopeOf(google?.thrown)).toEqual({
      wire_code: "rate_limited",
      wire_class: "client",
      retry_after_secs: 36,
      provider_status: 429,
    });
  });

  it("keeps the text of the cause that told, and all of the thrown value as the cause", () => {
    const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), {
      code: "ECONNREFUSED",
    });
    const thrown = new TypeError("fetch failed", { cause });
    const known = asAgentError(thrown);
    expect(known?.message).toBe("provider network: connect ECONNREFUSED 127.0.0.1:9");
    expect(known?.cause).toBe(thrown);
  });

  it("keeps the outermost text where none tells more than that a connection failed", () => {
    const thrown = Object.assign(
      new Error("Connection error.", { cause: new TypeError("fetch failed") }),
      { name: "APIConnectionError" },
    );
    expect(asAgentError(thrown)?.message).toBe("provider network: Connection error.");
  });

  it("takes the code for the text where there is none", () => {
    const thrown = Object.assign(new AggregateError([]), { code: "ECONNREFUSED" });
    expect(asAgentError(thrown)?.message).toBe("provider network: ECONNREFUSED");
  });

  it("takes the texts of the addresses that were tried, of an error that has none", () => {
    const tried = ["::1:9", "127.0.0.1:9"].map((at) => new Error(`connect ECONNREFUSED ${at}`));
    const thrown = Object.assign(new AggregateError(tried), { code: "ECONNREFUSED" });
    expect(asAgentError(thrown)?.message).toBe(
      "provider network: connect ECONNREFUSED ::1:9; connect ECONNREFUSED 127.0.0.1:9",
    );
  });

  it("takes an AgentError for itself, also where it is the cause of another", () => {
    const error = AgentError.toolErrorTerminal("quota", "search", AgentError.cancelled());
    expect(asAgentError(error)).toBe(error);
    expect(asAgentError(new Error("step 3", { cause: error }))).toBe(error);
    expect(classifyFailure(new Error("step 3", { cause: error }))).toEqual({
      type: "tool_error_terminal",
      kind: "quota",
      tool_name: "search",
    });
  });

  it("takes an abort's reason where that is an AgentError", () => {
    const reason = AgentError.usageLimitExceeded({ axis: "requests", limit: 1, observed: 1 });
    const abort = Object.assign(new Error("aborted", { cause: reason }), { name: "AbortError" });
    expect(asAgentError(abort)).toBe(reason);
  });
});

describe("what the model sees of a schema error", () => {
  /** Of the tool's input: it has the names and numbers of the cases below. */
  const schema = {
    properties: { a: { minimum: 3 }, b: {}, c: {}, e: {}, user: {}, key: {} },
  };
  const told = (thrown: unknown) => renderForLlm(thrown, { origin: "tool", schema });

  it("is where and what was expected, never the rejected value", () => {
    // What valibot 1 throws: its messages quote the value.
    const thrown = Object.assign(new Error('Invalid email: Received "sk-secret"'), {
      name: "ValiError",
      issues: [
        {
          type: "email",
          expected: null,
          received: '"sk-secret"',
          message: 'Invalid email: Received "sk-secret"',
          path: [
            { type: "object", key: "user" },
            { type: "array", key: 0 },
          ],
        },
        { type: "number", expected: "number", input: "sk-secret", message: "sk-secret" },
      ],
    });
    expect(told(thrown)).toBe("invalid input: user.0: email; (root): expected number");
    expect(renderForLlm(thrown)).toBe("invalid input: *.0: email; (root): expected number");
    expect(asAgentError(thrown)?.cause).toBe(thrown);
  });

  it.each([
    [
      { name: "ZodError", issues: [{ code: "too_small", minimum: 3, path: ["a"] }] },
      "a: too_small (3)",
    ],
    [
      { name: "ZodError", issues: [{ code: "invalid_format", format: "email", path: ["e", 1] }] },
      "e.1: invalid_format (email)",
    ],
    [
      // What yup 1 throws when it is to find every issue: `errors` are the messages of `inner`.
      {
        name: "ValidationError",
        errors: ["a.b is a required field", 'c must match, got "sk-secret"'],
        inner: [
          { name: "ValidationError", path: "a.b", type: "optionality", inner: [] },
          { name: "ValidationError", path: "c", type: "matches", inner: [] },
        ],
      },
      "a.b: optionality; c: matches",
    ],
    [
      // What it throws otherwise: the first issue.
      {
        name: "ValidationError",
        path: "a.b",
        type: "min",
        errors: ["a.b must be at least 3"],
        inner: [],
      },
      "a.b: min",
    ],
    [
      { name: "ValidationError", path: "", type: "email", errors: ["no email"], inner: [] },
      "(root): email",
    ],
    [
      { name: "ValidationError", details: [{ path: ["a"], type: "any.required" }] },
      "a: any.required",
    ],
    [
      { name: "TraversalError", arkErrors: [{ path: ["a"], expected: "a string" }] },
      "a: expected string",
    ],
    [
      {
        errors: [
          {
            keyword: "type",
            schemaPath: "#",
            instancePath: "/b",
            params: { type: "string" },
            message: "must be string",
          },
        ],
      },
      "b: expected string",
    ],
    [
      {
        errors: [{ keyword: "minimum", schemaPath: "#", instancePath: "/a", params: { limit: 3 } }],
      },
      "a: minimum (3)",
    ],
    [
      {
        name: "AI_TypeValidationError",
        message: "Value: sk-secret",
        cause: { issues: [{ code: "custom", path: [] }] },
      },
      "(root): custom",
    ],
    [
      { name: "AI_TypeValidationError", message: "Value: sk-secret" },
      "value does not match its schema",
    ],
  ])("%j", (thrown, text) => {
    expect(told(thrown)).toBe(`invalid input: ${text}`);
  });

  it("is bounded", () => {
    const issues = Array.from({ length: 500 }, () => ({
      path: Array.from({ length: 100 }, () => "key"),
      message: "m",
      code: "bad".repeat(100),
    }));
    expect(told({ issues }).length).toBeLessThan(8 * 200);
  });
});

describe("what is not known is not guessed", () => {
  it.each([
    ["text", "boom"],
    ["null", null],
    ["undefined", undefined],
    ["a plain Error", new Error("boom")],
    ["a programming error", new TypeError("x is not a function")],
    [
      "a regular expression that does not parse",
      new SyntaxError("Invalid regular expression: /(/"),
    ],
    ["another program's APIError", Object.assign(new Error("no"), { name: "APIError" })],
    [
      "an error of the work, though cleaning up failed by one that is known",
      Object.assign(new Error("suppressed"), {
        name: "SuppressedError",
        error: Object.assign(new Error("closing"), { code: "ECONNRESET" }),
        suppressed: new Error("boom"),
      }),
    ],
    ["a missing file", Object.assign(new Error("ENOENT"), { code: "ENOENT" })],
    ["the exit code of a child process", Object.assign(new Error("failed"), { status: 1 })],
    [
      "a child process that ran out of its time",
      Object.assign(new Error("spawnSync sleep ETIMEDOUT"), {
        errno: -110,
        code: "ETIMEDOUT",
        syscall: "spawnSync sleep",
        status: null,
        signal: "SIGTERM",
      }),
    ],
    ["an exit code on Windows", Object.assign(new Error("failed"), { status: 3_221_225_477 })],
    ["a status that is no number", { status: Number.NaN }],
    ["a status that is text", { status: "429" }],
    ["an object without a prototype", Object.create(null)],
  ])("%s", (_, thrown) => {
    expect(asAgentError(thrown)).toBeUndefined();
    expect(classifyFailure(thrown)).toEqual({ type: "unclassified" });
    expect(classifyToolError(thrown)).toBe("internal");
    expect(envelopeOf(thrown)).toEqual({ wire_code: "unclassified", wire_class: "server" });
    expect(renderForLlm(thrown)).toBe("unexpected error");
  });
});

describe("what this Node really throws", () => {
  const server = createServer((request, response) => {
    if (request.url === "/reset") request.socket.resetAndDestroy();
    else if (request.url === "/json") response.end("{");
  });
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address: AddressInfo | string | null = server.address();
    if (typeof address === "object" && address !== null) port = address.port;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function codeOf(run: () => Promise<unknown>): Promise<string> {
    const thrown: unknown = await run().then(
      () => expect.unreachable(),
      (error) => error,
    );
    return envelopeOf(thrown).wire_code;
  }

  it("a reset connection", async () => {
    expect(await codeOf(() => fetch(`http://127.0.0.1:${port}/reset`))).toBe("transport_failure");
  });

  it("TLS with a server that speaks none", async () => {
    expect(await codeOf(() => fetch(`https://127.0.0.1:${port}/`))).toBe("tls_failure");
  });

  it("a stream of HTTP/2 that the server closed, and a session", async () => {
    const http2 = createHttp2Server();
    http2.on("session", (session) => session.on("error", () => {}));
    http2.on("stream", (stream, headers) => {
      stream.on("error", () => {});
      if (headers[":path"] === "/busy") stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else stream.session?.goaway(constants.NGHTTP2_INTERNAL_ERROR);
    });
    await new Promise<void>((resolve) => http2.listen(0, "127.0.0.1", resolve));
    const address = http2.address();
    const at = typeof address === "object" && address !== null ? address.port : 0;
    for (const path of ["/busy", "/gone"]) {
      const session = connect(`http://127.0.0.1:${at}`).on("error", () => {});
      const request = session.request({ ":path": path });
      const failed = () =>
        new Promise((_, reject) => request.on("error", reject).on("response", () => {}));
      expect(await codeOf(failed)).toBe("transport_failure");
      session.destroy();
    }
    await new Promise((resolve) => http2.close(resolve));
  });

  it("an answer that is no JSON", async () => {
    const read = async () => (await fetch(`http://127.0.0.1:${port}/json`)).json();
    expect(await codeOf(read)).toBe("serde");
  });

  it("a fetch that is aborted, and one that runs out of time", async () => {
    const hang = `http://127.0.0.1:${port}/hang`;
    expect(await codeOf(() => fetch(hang, { signal: AbortSignal.abort() }))).toBe("cancelled");
    expect(await codeOf(() => fetch(hang, { signal: AbortSignal.timeout(1) }))).toBe(
      "deadline_exceeded",
    );
  });

  it("a timer that is aborted, and one that runs out of time", async () => {
    expect(await codeOf(() => sleep(60_000, 0, { signal: AbortSignal.abort() }))).toBe("cancelled");
    expect(await codeOf(() => sleep(60_000, 0, { signal: AbortSignal.timeout(1) }))).toBe(
      "deadline_exceeded",
    );
  });
});
