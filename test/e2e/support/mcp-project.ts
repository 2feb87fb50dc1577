import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { AdaptersProject } from "./adapters-project.ts";

const run = promisify(execFile);
const HERE = fileURLToPath(new URL(".", import.meta.url));
const PROGRAMS = ["mcp-scenes.mjs", "mcp-sdk.mjs", "mcp-tools.mjs", "mcp-server-program.mjs"];

/** What a program may take, in ms. */
const TIMEOUT_MS = 60_000;

interface McpSpan {
  readonly name: string;
  /** 2: an error. */
  readonly status?: number;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** What a scene of `mcp-scenes.mjs` made. */
export interface McpScene {
  readonly answer: unknown;
  readonly thrown: string | null;
  readonly spans: readonly McpSpan[];
  readonly traces: number;
  readonly counts: readonly Readonly<Record<string, number>>[];
  readonly troubles: readonly string[];
  readonly replay: unknown;
  /** Of each call that a server got, the keys of its `_meta`. */
  readonly carried: readonly (readonly string[])[];
}

/** Plays every scene with the SDK of that major version which is beside the project. */
export async function playMcp(
  { folder }: AdaptersProject,
  major: "1" | "2",
  refusal: string,
): Promise<Readonly<Record<string, McpScene>>> {
  for (const file of PROGRAMS) await cp(join(HERE, file), join(folder, file));
  const options = { cwd: folder, timeout: TIMEOUT_MS, env: { PATH: process.env.PATH } };
  const { stdout } = await run(process.execPath, ["mcp-scenes.mjs", major, refusal], options);
  const scenes: Record<string, McpScene> = JSON.parse(stdout);
  return scenes;
}

/** A line a span, indented below its parent: name, outcome, kinds of failure, and whether its status is an error. */
export function treeOf({ spans }: McpScene): readonly string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const roots = spans.filter(({ parentSpanId }) => !ids.has(parentSpanId ?? ""));
  const below = (span: McpSpan, indent: string): string[] => [
    `${indent}${lineOf(span)}`,
    ...spans
      .filter(({ parentSpanId }) => parentSpanId === span.spanId)
      .flatMap((child) => below(child, `${indent}  `)),
  ];
  return roots.flatMap((root) => below(root, ""));
}

function lineOf({ attributes, name, status }: McpSpan): string {
  const said = [
    "entelix.run.outcome",
    "entelix.tool.outcome",
    "entelix.step.outcome",
    "entelix.failure.kind",
    "entelix.failure.tool_error_kind",
    "entelix.tool.error_kind",
    "entelix.elicitation.action",
  ].flatMap((key) => attributes[key] ?? []);
  return `${name}: ${said.join(" ")}${status === 2 ? " ERROR" : ""}`;
}

/** The attributes of the conventions for the protocol, of the span of that name that ended last: the client's. */
export function mcpOf({ spans }: McpScene, name: string): Readonly<Record<string, unknown>> {
  const found = spans.findLast((span) => span.name === name);
  const wanted = /^(?:mcp|jsonrpc|rpc|network|server)\./;
  return Object.fromEntries(
    Object.entries(found?.attributes ?? {}).filter(
      ([key]) => wanted.test(key) && key !== "server.port",
    ),
  );
}
