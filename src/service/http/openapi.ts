import { DIALECT_NAMES } from "../../runtimes/runtimes.ts";
import { VERSION } from "../../version.ts";
import { MOST_REASONS } from "./line-outcomes.ts";
import { REFUSALS, type RefusalCode } from "./refusal.ts";
import type { Route } from "./routes.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type JsonObject = { readonly [name: string]: Json };

const OF_ANY_ROUTE: readonly RefusalCode[] = [
  "bad_request",
  "method",
  "slow",
  "expectation",
  "host",
  "head_size",
  "internal",
  "not_implemented",
];

/** The statuses of refusals that a route can answer, beside its own. */
const REFUSED: Readonly<Record<Route, readonly RefusalCode[]>> = {
  "/v1/events": [
    ...OF_ANY_ROUTE,
    "encoding",
    "dialect",
    "token",
    "forbidden",
    "body_size",
    "line_count",
    "media_type",
    "rate",
    "backlog",
    "store",
    "memory",
    "connections",
    "draining",
  ],
  "/healthz": OF_ANY_ROUTE,
  "/readyz": [...OF_ANY_ROUTE, "backlog", "store", "draining"],
  "/metrics": [...OF_ANY_ROUTE, "token", "forbidden"],
  "/openapi.json": OF_ANY_ROUTE,
};

/** The OpenAPI 3.1 document of the service, made from what the service itself is made from. */
export function openapiDocument(): JsonObject {
  return {
    openapi: "3.1.0",
    info: {
      title: "entelix-otel serve",
      version: VERSION,
      summary: "Takes agent lifecycle events; what it acknowledges is durable.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    paths: {
      "/v1/events": { post: eventsOperation() },
      "/healthz": reading("healthz", "/healthz", "Whether the process is up.", health("ok")),
      "/readyz": reading(
        "readyz",
        "/readyz",
        "Whether it takes events: journal writable, backlog below its limit, not about to end.",
        health("ready"),
      ),
      "/metrics": reading(
        "metrics",
        "/metrics",
        "Counts and gauges in the text form of Prometheus. Needs a token with `metrics`, unless the service listens on a loopback address and `Host` names this machine.",
        { description: "The metrics.", content: { "text/plain": { schema: { type: "string" } } } },
        [{}, { bearer: [] }],
      ),
      "/openapi.json": reading("openapi", "/openapi.json", "This document.", {
        description: "This document.",
        content: { "application/json": { schema: { type: "object" } } },
      }),
    },
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "A token of the tokens file; not asked for where there is none.",
        },
      },
      headers: {
        RetryAfter: {
          description: "Seconds to wait before trying again.",
          required: true,
          schema: { type: "integer", minimum: 1 },
        },
        Allow: {
          description: "The methods of the path.",
          required: true,
          schema: { type: "string" },
        },
        Challenge: {
          description: "How to say who you are.",
          required: true,
          schema: { type: "string", const: "Bearer" },
        },
      },
      schemas: SCHEMAS,
    },
  };
}

/** The document as it is served and committed. */
export function openapiText(): string {
  return `${JSON.stringify(openapiDocument(), null, 2)}\n`;
}

function eventsOperation(): JsonObject {
  return {
    operationId: "sendEvents",
    summary: "Takes events, one JSON object a line, of any dialect.",
    description:
      "Lines are read as they come, and a line is `accepted` only once it is durable. Of a gzip body no line is taken before its last checksum holds. Blank lines are left out. Send again what has no result; an event with an `event_id` is taken once.",
    security: [{}, { bearer: [] }],
    parameters: [
      {
        name: "dialect",
        in: "query",
        description:
          "The dialect of all lines; auto: each line tells its own, or is as the one before, or, at the head of a body, as the first one that tells it.",
        schema: { type: "string", enum: [...DIALECT_NAMES], default: "auto" },
      },
      {
        name: "Content-Encoding",
        in: "header",
        schema: { type: "string", enum: ["gzip", "identity"], default: "identity" },
      },
    ],
    requestBody: {
      required: true,
      content: {
        "application/x-ndjson": {
          schema: { type: "string", description: "JSON objects, each on a line of its own." },
        },
      },
    },
    responses: {
      "200": {
        description: "The body was read to its end; what became of each line is told.",
        content: { "application/json": { schema: ref("EventsResult") } },
      },
      ...refusals("/v1/events"),
    },
  };
}

function reading(
  operationId: string,
  route: Route,
  summary: string,
  ok: JsonObject,
  security?: Json,
): JsonObject {
  const operation: JsonObject = {
    operationId,
    summary,
    ...(security === undefined ? {} : { security }),
    responses: { "200": ok, ...refusals(route) },
  };
  return { get: operation };
}

function health(status: string): JsonObject {
  const schema = {
    type: "object",
    required: ["status"],
    properties: { status: { const: status } },
    additionalProperties: false,
  };
  return { description: "It is so.", content: { "application/json": { schema } } };
}

function refusals(route: Route): JsonObject {
  const byStatus = new Map<number, RefusalCode[]>();
  for (const code of REFUSED[route]) {
    const { status } = REFUSALS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const answers = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    answers.map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\`: ${REFUSALS[code].about}`).join(" "),
        ...headersOf(status),
        content: {
          "application/json": {
            schema: {
              allOf: [
                ref(route === "/v1/events" ? "EventsRefusal" : "Refusal"),
                { properties: { error: { properties: { code: { enum: codes } } } } },
              ],
            },
          },
        },
      },
    ]),
  );
}

function headersOf(status: number): JsonObject {
  const header = (name: string, component: string) => ({
    headers: { [name]: { $ref: `#/components/headers/${component}` } },
  });
  if (status === 401) return header("WWW-Authenticate", "Challenge");
  if (status === 405) return header("Allow", "Allow");
  return status === 429 || status === 503 ? header("Retry-After", "RetryAfter") : {};
}

function ref(schema: string): JsonObject {
  return { $ref: `#/components/schemas/${schema}` };
}

const COUNT = { type: "integer", minimum: 0 };
const COUNTED = {
  lines: { ...COUNT, description: "Lines with a result: the sum of the three." },
  accepted: { ...COUNT, description: "Lines that are durable now." },
  duplicate: { ...COUNT, description: "Lines whose event of this tenant was durable before." },
  rejected: { ...COUNT, description: "Lines that are no event; sending them again is of no use." },
  results: { type: "array", items: ref("LineResult"), description: "In the order of the lines." },
};

const SCHEMAS: JsonObject = {
  EventsResult: {
    type: "object",
    required: ["lines", "accepted", "duplicate", "rejected", "results"],
    properties: COUNTED,
    additionalProperties: false,
  },
  LineResult: {
    oneOf: [
      lineResult("accepted", {
        unknown_type: {
          type: "string",
          description: "The event's type, where this version does not know it. The line is kept.",
        },
      }),
      lineResult("duplicate", {}),
      lineResult(
        "rejected",
        {
          field: { type: "string", description: "What is wrong." },
          expected: {
            type: "string",
            description: `What was expected there. An answer has at most ${MOST_REASONS} different reasons.`,
          },
        },
        ["field", "expected"],
      ),
    ],
  },
  EventsRefusal: {
    description:
      "Why the body was not read, or not to its end. With results where some of it was: lines without one were not taken.",
    type: "object",
    required: ["error"],
    properties: { error: ref("Error"), ...COUNTED },
    additionalProperties: false,
  },
  Refusal: {
    type: "object",
    required: ["error"],
    properties: { error: ref("Error") },
    additionalProperties: false,
  },
  Error: {
    type: "object",
    required: ["code", "message"],
    properties: {
      code: { type: "string", enum: Object.keys(REFUSALS) },
      message: { type: "string", description: "What was expected." },
    },
    additionalProperties: false,
  },
};

function lineResult(
  status: string,
  properties: JsonObject,
  required: readonly string[] = [],
): JsonObject {
  return {
    type: "object",
    required: ["line", "status", ...required],
    properties: {
      line: { type: "integer", minimum: 1, description: "Its number in the body, from 1." },
      status: { const: status },
      ...properties,
    },
    additionalProperties: false,
  };
}
