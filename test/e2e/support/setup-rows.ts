import { ALL, type Arrived } from "./telemetry-recorder.ts";

/** A setup or a runtime of `docs/setups.md`, with what must arrive. */
export interface SetupRow {
  readonly title: string;
  /** Page below `docs/`, with the program that is run. */
  readonly page: string;
  /** The package whose version the table has. */
  readonly package: string;
  /** Its installation in `scripts/servers`. */
  readonly server: string;
  /** Program and arguments in the project. `node` is Node 24. Each command runs to its end, in this order. */
  readonly commands: readonly (readonly string[])[];
  /** A program of this folder that the commands start. */
  readonly driver?: string;
  /** Runs `setup-audit.mjs`, for a runtime that has files. */
  readonly audit?: readonly string[];
  /** CI tests it, too: one of each kind. */
  readonly inCi?: boolean;
  readonly arrives: Arrived;
}

const BUN = "../node_modules/.bin/bun";
const DENO = "../node_modules/.bin/deno run --allow-env --allow-net --allow-read --allow-sys".split(
  " ",
);

const NEXT = ["node", "../node_modules/next/dist/bin/next"];

/** Beside telemetry that an application has. */
export const SETUPS: readonly SetupRow[] = [
  {
    title: "NodeSDK",
    page: "with-node-sdk.md",
    package: "@opentelemetry/sdk-node",
    server: "node-sdk",
    commands: [["node", "app.mjs"]],
    inCi: true,
    arrives: ALL,
  },
  {
    title: "auto-instrumentations",
    page: "with-auto-instrumentations.md",
    package: "@opentelemetry/auto-instrumentations-node",
    server: "auto-instrumentations",
    commands: [
      ["node", "--import", "@opentelemetry/auto-instrumentations-node/register", "app.mjs"],
    ],
    arrives: { ...ALL, traceId: "random" },
  },
  {
    title: "@vercel/otel",
    page: "with-vercel-otel.md",
    package: "@vercel/otel",
    server: "vercel-otel",
    commands: [["node", "app.mjs"]],
    arrives: { ...ALL, metrics: "no" },
  },
  {
    title: "Next.js",
    page: "with-nextjs.md",
    package: "next",
    server: "nextjs",
    commands: [
      [...NEXT, "build"],
      ["node", "setup-nextjs.mjs"],
    ],
    driver: "setup-nextjs.mjs",
    arrives: { ...ALL, traceId: "random", metrics: "no" },
  },
  {
    title: "Sentry",
    page: "with-sentry.md",
    package: "@sentry/node",
    server: "sentry",
    commands: [["node", "app.mjs"]],
    arrives: { ...ALL, traceId: "random", metrics: "no" },
  },
  {
    title: "Datadog",
    page: "with-datadog.md",
    package: "dd-trace",
    server: "datadog",
    commands: [["node", "app.mjs"]],
    arrives: { ...ALL, traceId: "random", metrics: "no" },
  },
  {
    title: "Langfuse's processor",
    page: "with-langfuse.md",
    package: "@langfuse/otel",
    server: "langfuse",
    commands: [["node", "app.mjs"]],
    arrives: ALL,
  },
];

/** Runtimes, with `setupTelemetry` and SDK 3. */
export const RUNTIMES: readonly SetupRow[] = [
  {
    title: "Bun",
    page: "on-bun.md",
    package: "bun",
    server: "bun",
    commands: [[BUN, "app.mjs"]],
    audit: [BUN, "setup-audit.mjs"],
    inCi: true,
    arrives: ALL,
  },
  {
    title: "Deno",
    page: "on-deno.md",
    package: "deno",
    server: "deno",
    commands: [[...DENO, "app.mjs"]],
    audit: [...DENO, "--allow-write", "setup-audit.mjs"],
    arrives: ALL,
  },
  {
    title: "Cloudflare Workers",
    page: "on-workers.md",
    package: "miniflare",
    server: "workers",
    commands: [["node", "setup-worker.mjs"]],
    driver: "setup-worker.mjs",
    arrives: ALL,
  },
  {
    title: "AWS Lambda",
    page: "on-lambda.md",
    // Any installation with the SDK.
    server: "bun",
    package: "@opentelemetry/sdk-trace",
    commands: [["node", "setup-lambda.mjs"]],
    driver: "setup-lambda.mjs",
    inCi: true,
    arrives: ALL,
  },
];
