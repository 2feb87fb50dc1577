import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fieldIn } from "../core/door.ts";

/** Frameworks that need code, by their packages: the name, and the page that says how. */
const NEED_CODE: readonly (readonly [packageName: string, title: string, page: string])[] = [
  ["@mastra/core", "Mastra", "docs/mastra.md"],
  ["@anthropic-ai/claude-agent-sdk", "Claude Agent", "docs/claude-agent.md"],
  ["@modelcontextprotocol/sdk", "MCP", "docs/mcp.md"],
  ["@modelcontextprotocol/client", "MCP", "docs/mcp.md"],
  ["@modelcontextprotocol/server", "MCP", "docs/mcp.md"],
];

const AI_SDK_6 = "AI SDK 6 (docs/ai-sdk.md)";

/**
 * The frameworks that the application names among its dependencies and that need code, each with its page. Packages
 * that only other packages need are none of its frameworks.
 *
 * @param entry the application's first file. Default: a file of the current directory.
 * @param hasAiSdk6 whether the application loads version 6 of the AI SDK.
 */
export function needCode(entry: string | undefined, hasAiSdk6: boolean): readonly string[] {
  const folder = nearestWith("package.json", entry);
  const named = folder === undefined ? undefined : manifestOf(folder).dependencies;
  const found = NEED_CODE.filter(([name]) => fieldIn(named, name) !== undefined).map(
    ([, title, page]) => `${title} (${page})`,
  );
  if (hasAiSdk6 && fieldIn(named, "ai") !== undefined) found.unshift(AI_SDK_6);
  return [...new Set(found)];
}

/** Whether the application loads version 6 of the AI SDK. */
export function isAiSdk6(entry: string | undefined): boolean {
  const folder = nearestWith(join("node_modules", "ai"), entry);
  if (folder === undefined) return false;
  return `${manifestOf(join(folder, "node_modules", "ai")).version}`.startsWith("6.");
}

/** The nearest folder of the application, or above it, with that file or folder. */
export function nearestWith(name: string, entry: string | undefined): string | undefined {
  let folder = entry === undefined ? process.cwd() : dirname(entry);
  for (;;) {
    if (existsSync(join(folder, name))) return folder;
    const above = dirname(folder);
    if (above === folder) return undefined;
    folder = above;
  }
}

function manifestOf(folder: string): {
  readonly dependencies?: unknown;
  readonly version?: unknown;
} {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return {
      dependencies: fieldIn(manifest, "dependencies"),
      version: fieldIn(manifest, "version"),
    };
  } catch {
    return {};
  }
}
