import { AgentError } from "../../../src/events/errors/agent-error.ts";
import { runs } from "../../support/runs.ts";

// Errors that tools get from vendors and libraries, and copies of them in which one place holds a secret.

/** A text, and words that look like a class, a code or an identifier. */
export const SECRETS = [
  "acct 4711 of alice@example.com: card 4242 declined",
  "alice_smith_4711",
  "sk-live-4711.alice",
  "AliceSmithDeclined",
] as const;
/** An account. */
export const SECRET_NUMBER = 4_711_424_242;

function error(message: string, properties: object = {}, options?: ErrorOptions): Error {
  return Object.assign(new Error(message, options), properties);
}

class StructError extends Error {}
class PrismaClientKnownRequestError extends Error {}
class GraphQLError extends Error {}

const zodIssue = { code: "invalid_type", expected: "number", path: ["a", 0], message: "m" };
const ajvError = {
  keyword: "required",
  schemaPath: "#/required",
  instancePath: "/a/0",
  message: "must have b",
  params: { missingProperty: "b", limit: 3, type: "string", format: "email" },
};
const body = { error: { message: "declined", type: "card_error", code: "declined", param: "p" } };

/** Each makes a fresh error, so that one place of it can be changed. */
export const SHAPES: Readonly<Record<string, () => unknown>> = {
  // Schema libraries, and what only looks like them.
  zod: () => error("[]", { name: "ZodError", issues: [{ ...zodIssue, path: ["a", 0] }] }),
  "zod core": () => error("[]", { name: "$ZodError", issues: [{ code: "custom", path: ["a"] }] }),
  "zod too small": () =>
    error("[]", {
      name: "ZodError",
      issues: [{ origin: "number", code: "too_small", minimum: 3, inclusive: true, path: ["a"] }],
    }),
  "zod too big": () =>
    error("[]", {
      name: "ZodError",
      issues: [{ code: "too_big", maximum: 3, type: "array", path: [] }],
    }),
  "zod format": () =>
    error("[]", {
      name: "ZodError",
      issues: [
        { code: "invalid_format", format: "email", pattern: "/x/", prefix: "p", path: ["a"] },
      ],
    }),
  "zod 3 text": () =>
    error("[]", {
      name: "ZodError",
      issues: [{ code: "invalid_string", validation: "email", path: ["a"] }],
    }),
  "zod 3 literal": () =>
    error("[]", {
      name: "ZodError",
      issues: [{ code: "invalid_literal", expected: "x", received: "y", path: [] }],
    }),
  "zod keys": () =>
    error("[]", {
      name: "ZodError",
      issues: [{ code: "unrecognized_keys", keys: ["k"], path: [] }],
    }),
  "zod union": () =>
    error("[]", {
      name: "ZodError",
      issues: [{ code: "invalid_union", errors: [[{ ...zodIssue }]], path: [] }],
    }),
  valibot: () =>
    error("m", {
      name: "ValiError",
      issues: [
        {
          kind: "schema",
          type: "number",
          input: "x",
          expected: "number",
          received: "x",
          message: "m",
          requirement: "r",
          path: [{ type: "object", origin: "value", input: {}, key: "a", value: "x" }],
        },
      ],
    }),
  "valibot check": () =>
    error("m", {
      name: "ValiError",
      issues: [
        { kind: "validation", type: "min_value", expected: ">=3", received: "1", message: "m" },
      ],
    }),
  ajv: () =>
    error("validation failed", { errors: [{ ...ajvError, params: { ...ajvError.params } }] }),
  "ajv type": () =>
    error("validation failed", {
      errors: [{ ...ajvError, keyword: "type", params: { type: "string" } }],
    }),
  joi: () =>
    error("m", {
      name: "ValidationError",
      _original: { a: "x" },
      details: [
        {
          message: "m",
          path: ["a", 0],
          type: "string.email",
          context: { limit: 3, value: "x", label: "l", key: "k" },
        },
      ],
    }),
  yup: () =>
    error("m", {
      name: "ValidationError",
      value: { a: "x" },
      errors: ["a is wrong"],
      inner: [
        { name: "ValidationError", path: "a[0].b", type: "min", params: { min: 3 }, inner: [] },
      ],
    }),
  "yup alone": () =>
    error("m", {
      name: "ValidationError",
      path: "a",
      type: "email",
      value: "x",
      errors: ["m"],
      inner: [],
    }),
  arktype: () =>
    error("m", {
      name: "TraversalError",
      arkErrors: [
        { code: "domain", path: ["a", 0], expected: "a string", actual: "x", message: "m" },
      ],
    }),
  typebox: () =>
    error("m", {
      error: { type: 41, path: "/a", value: "x", message: "Expected number", errors: [] },
    }),
  superstruct: () =>
    Object.assign(new StructError("m"), {
      type: "number",
      key: "a",
      path: ["a"],
      value: "x",
      branch: ["x"],
    }),
  "standard schema": () =>
    error("m", { name: "SchemaError", issues: [{ message: "m", path: [{ key: "a" }, "b", 0] }] }),
  "standard schema as it is": () => ({ issues: [{ message: "m", path: ["a"] }] }),
  "AI SDK type": () =>
    error(
      "Type validation failed: Value: x",
      { name: "AI_TypeValidationError", value: "x", context: { field: "f", entityName: "e" } },
      { cause: error("m", { name: "ZodError", issues: [{ ...zodIssue }] }) },
    ),
  "AI SDK argument": () =>
    error("Invalid argument", { name: "AI_InvalidArgumentError", parameter: "p", value: "v" }),
  "issues of a tracker": () => ({ issues: [{ message: "m", title: "t", type: "bug", code: "c" }] }),
  "issues in an HTTP error": () =>
    error("m", { status: 422, issues: [{ message: "m", code: "c" }] }),
  "a vendor's ValidationError": () =>
    error("m", { name: "ValidationError", details: [{ field: "f", issue: "i", type: "t" }] }),
  // HTTP and model clients.
  axios: () =>
    error("Request failed", {
      name: "AxiosError",
      code: "ERR_BAD_REQUEST",
      config: { url: "u", headers: { authorization: "h" }, data: "d" },
      response: {
        status: 422,
        statusText: "t",
        headers: { "retry-after": "7", "x-id": "i" },
        data: { ...body },
      },
    }),
  got: () =>
    error("m", {
      name: "HTTPError",
      code: "ERR_NON_2XX",
      response: { statusCode: 500, body: "b", url: "u" },
    }),
  openai: () =>
    error("429 slow", {
      status: 429,
      headers: { "retry-after": "x" },
      requestID: "req_1",
      error: { message: "m", type: "t", code: "c", param: "p" },
      code: "c",
      param: "p",
      type: "insufficient_quota",
    }),
  "openai stream": () =>
    error("m", { name: "APIError", error: { message: "m", type: "server_error", code: "c" } }),
  anthropic: () =>
    error("529 {}", {
      status: 529,
      requestID: "r",
      error: { type: "error", error: { type: "t", message: "m" } },
    }),
  "a provider's word": () => ({ type: "overloaded_error", message: "m" }),
  "AI SDK call": () =>
    error("m", {
      name: "AI_APICallError",
      statusCode: 400,
      url: "u",
      responseBody: "b",
      data: { ...body },
    }),
  "AI SDK retries": () =>
    error("m", {
      name: "AI_RetryError",
      reason: "r",
      errors: [error("e", { statusCode: 503 })],
      lastError: error("l"),
    }),
  "AI SDK tool": () =>
    error("m", { name: "AI_NoSuchToolError", toolName: "t", availableTools: ["t"] }),
  google: () =>
    error("m", {
      status: 429,
      errorDetails: [
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "3s" },
        {
          "@type": "type.googleapis.com/google.rpc.ErrorInfo",
          reason: "r",
          domain: "d",
          metadata: { k: "v" },
        },
      ],
    }),
  "aws throttle": () =>
    error("m", {
      name: "ThrottlingException",
      $fault: "client",
      __type: "t",
      $metadata: { httpStatusCode: 400, requestId: "r" },
    }),
  "aws stream": () => error("m", { name: "ModelStreamErrorException", $fault: "client" }),
  cohere: () =>
    error("m", {
      name: "CohereError",
      body: "b",
      rawResponse: { status: 499, type: "error", statusText: "s" },
    }),
  "a response": () => ({ status: 500, statusText: "s", url: "u", headers: { "retry-after": "x" } }),
  problem: () => ({
    type: "https://example.com/p",
    title: "t",
    detail: "d",
    instance: "i",
    status: 422,
  }),
  // RPC.
  grpc: () => error("14 UNAVAILABLE: m", { code: 14, details: "d", metadata: { k: "v" } }),
  mcp: () => error("MCP error -32602: m", { name: "McpError", code: -32602, data: { d: "d" } }),
  "mcp timeout": () =>
    error("MCP error -32001: m", { name: "McpError", code: -32001, data: { timeout: 5 } }),
  "mcp 2": () => error("m", { name: "ProtocolError", code: "REQUEST_TIMEOUT", data: "d" }),
  graphql: () =>
    Object.assign(new GraphQLError("m"), {
      path: ["a", 0],
      extensions: { code: "BAD_USER_INPUT", issues: [{ message: "m", code: "c" }] },
    }),
  "graphql body": () => ({
    errors: [{ message: "m", path: ["a"], extensions: { code: "c" } }],
    data: null,
  }),
  // Databases.
  postgres: () =>
    error("duplicate key", {
      code: "23505",
      severity: "ERROR",
      detail: "d",
      table: "t",
      constraint: "c",
      where: "w",
    }),
  sqlite: () => error("m", { code: "SQLITE_CONSTRAINT", errcode: 19, errstr: "s" }),
  mysql: () =>
    error("m", { code: "ER_DUP_ENTRY", errno: 1062, sqlMessage: "s", sqlState: "23000", sql: "q" }),
  mongo: () =>
    error("m", { name: "MongoServerError", code: 11000, keyValue: { email: "e" }, errmsg: "x" }),
  prisma: () =>
    Object.assign(new PrismaClientKnownRequestError("m"), {
      code: "P2002",
      clientVersion: "5",
      meta: { modelName: "User", target: ["email"] },
    }),
  // Node, and the web.
  "fetch failed": () =>
    new TypeError("fetch failed", {
      cause: error("connect", { code: "ECONNREFUSED", address: "a", hostname: "h" }),
    }),
  dns: () => error("m", { code: "ENOTFOUND", syscall: "getaddrinfo", hostname: "h" }),
  tls: () => error("m", { code: "CERT_HAS_EXPIRED", reason: "r", host: "h" }),
  file: () => error("m", { code: "ENOENT", path: "p", syscall: "open" }),
  spawn: () =>
    error("m", { code: "ETIMEDOUT", syscall: "spawn x", path: "x", spawnargs: ["s"], stderr: "e" }),
  abort: () => error("m", { name: "AbortError", code: "ABORT_ERR" }, { cause: error("why") }),
  timeout: () => error("m", { name: "TimeoutError" }),
  syntax: () => error("Unexpected token in JSON", { name: "SyntaxError" }),
  aggregate: () =>
    new AggregateError([error("a", { code: "c" }), { issues: [{ message: "m", code: "c" }] }], "m"),
  suppressed: () =>
    error("m", {
      name: "SuppressedError",
      error: error("e"),
      suppressed: { issues: [{ message: "m", type: "t" }] },
    }),
  causes: () =>
    error("m", {}, { cause: error("c", {}, { cause: { issues: [{ message: "m", code: "c" }] } }) }),
  // Frameworks.
  "LangChain code": () => error("m", { lc_error_code: "INVALID_TOOL_RESULTS" }),
  "LangChain parser": () =>
    error("m", { name: "OutputParserException", llmOutput: "o", observation: "x" }),
  "LangChain tool input": () => error("m", { name: "ToolInputParsingException", output: "o" }),
  // Texts of the OpenAI Agents SDK, which keeps no more of an error.
  "guardrail of a tool": () => error("Tool input guardrail triggered: m"),
  // Ours, as it crosses a worker or a wire.
  "an AgentError's fields": () => ({
    name: "AgentError",
    message: "m",
    detail: { type: "invalid_request", message: "m", hint: "h" },
  }),
  "a clone of an AgentError": () => structuredClone(AgentError.invalidRequest("m")),
};

type Path = readonly string[];

/** Every place of a value that holds a text or a number, an `Error`'s own included. */
function placesIn(value: unknown, path: Path = [], seen = new Set<unknown>()): readonly Path[] {
  if (typeof value === "string" || typeof value === "number") return [path];
  if (typeof value !== "object" || value === null || seen.has(value)) return [];
  seen.add(value);
  const keys = Object.getOwnPropertyNames(value).filter((key) => key !== "length");
  return keys.flatMap((key) => placesIn(Reflect.get(value, key), [...path, key], seen));
}

/** The object that holds the place, and the place's key in it. */
function holderOf(root: unknown, path: Path): { readonly holder: object; readonly key: string } {
  const key = path.at(-1) ?? "";
  let holder = root;
  for (const step of path.slice(0, -1)) holder = Object(Reflect.get(Object(holder), step));
  return { holder: Object(holder), key };
}

/** What is put in a place: the secret, or something that gives it. */
const PUTS: Readonly<Record<string, (holder: object, key: string, secret: string) => void>> = {
  text: (holder, key, secret) => Reflect.set(holder, key, secret),
  number: (holder, key) => Reflect.set(holder, key, SECRET_NUMBER),
  getter: (holder, key, secret) =>
    Object.defineProperty(holder, key, { get: () => secret, enumerable: true, configurable: true }),
  object: (holder, key, secret) => {
    const inside = { message: secret, code: secret, type: secret, key: secret, expected: secret };
    Reflect.set(holder, key, { ...inside, path: [secret], toString: () => secret });
  },
  list: (holder, key, secret) => Reflect.set(holder, key, [secret, { key: secret }]),
  map: (holder, key, secret) => Reflect.set(holder, key, new Map([[secret, secret]])),
  set: (holder, key, secret) => Reflect.set(holder, key, new Set([secret])),
  proxy: (holder, key, secret) => Reflect.set(holder, key, new Proxy({}, { get: () => secret })),
  key: (holder, key, secret) => {
    Reflect.set(holder, secret, Reflect.get(holder, key));
    Reflect.deleteProperty(holder, key);
  },
};

/** A copy of a shape with a secret in one place. */
export interface Poisoned {
  readonly name: string;
  readonly thrown: unknown;
}

/**
 * Every shape with a secret in each of its places, in each way; the secrets take turns. All of them come to
 * every place in `npm run test:deep`.
 */
export function* poisoned(): Generator<Poisoned> {
  const share = runs(SECRETS.length);
  let at = 0;
  for (const [name, make] of Object.entries(SHAPES)) {
    for (const path of placesIn(make())) {
      for (const [way, put] of Object.entries(PUTS)) {
        at += 1;
        for (let turn = 0; turn < share; turn++) {
          const secret = SECRETS[(at + turn) % SECRETS.length] ?? "";
          const thrown = make();
          const { holder, key } = holderOf(thrown, path);
          put(holder, key, secret);
          yield { name: `${name}: ${way} in ${path.join(".")}: ${secret}`, thrown };
        }
      }
    }
  }
}

/** Some of them, for what takes longer than to classify an error: this many of each 61. */
export function* somePoisoned(share: number): Generator<Poisoned> {
  let at = 0;
  for (const each of poisoned()) {
    if (at % 61 < share) yield each;
    at += 1;
  }
}

/** Whether any secret stands in a text. */
export function hasSecret(text: string): boolean {
  return [...SECRETS, String(SECRET_NUMBER)].some((secret) => text.includes(secret));
}
