import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { fieldIn, listOf } from "../core/door.ts";
import { LangChainHandler } from "../langchain/handler.ts";
import type { AgentSink } from "./agent-sink.ts";

const MANAGER = "@langchain/core/callbacks/manager";

/**
 * Adds a handler to every invocation of the application's LangChain that has no handler of this package. LangChain
 * has no handlers for a process, so the method that collects the handlers of an invocation is wrapped.
 *
 * @param entry the application's first file. Its LangChain is used.
 * @returns whether LangChain was found.
 */
export function enableLangChain(sink: AgentSink, tenant: string, entry: string): boolean {
  const require = createRequire(pathToFileURL(entry));
  let path: string;
  try {
    path = require.resolve(MANAGER);
  } catch {
    return false;
  }
  const handler = new LangChainHandler({ sink, tenant });
  // Both builds may be in use: ESM by the application, CommonJS by a dependency.
  for (const build of new Set([path, path.replace(/\.cjs$/, ".js")])) {
    wrap(fieldIn(require(build), "CallbackManager"), handler);
  }
  return true;
}

function wrap(manager: unknown, handler: LangChainHandler): void {
  if (typeof manager !== "function") return;
  const configure: unknown = Reflect.get(manager, "_configureSync");
  if (typeof configure !== "function") return;
  Reflect.set(
    manager,
    "_configureSync",
    function configured(this: unknown, inherited: unknown, local: unknown, ...more: unknown[]) {
      const known = [...handlersIn(inherited), ...handlersIn(local)];
      const given = known.some(isOurs) ? inherited : withHandler(inherited, handler);
      return Reflect.apply(configure, this, [given, local, ...more]);
    },
  );
}

/** Callbacks are a list of handlers, or a manager with a list. */
function handlersIn(callbacks: unknown): readonly unknown[] {
  return listOf(callbacks) ?? listOf(fieldIn(callbacks, "handlers")) ?? [];
}

function withHandler(callbacks: unknown, handler: LangChainHandler): unknown {
  if (callbacks === undefined || callbacks === null) return [handler];
  if (Array.isArray(callbacks)) return [...callbacks, handler];
  const copy = fieldIn(callbacks, "copy");
  if (typeof copy !== "function") return callbacks;
  // The manager belongs to the application, so a copy gets the handler.
  const own: unknown = Reflect.apply(copy, callbacks, []);
  const add = fieldIn(own, "addHandler");
  if (typeof add !== "function") return callbacks;
  Reflect.apply(add, own, [handler, true]);
  return own;
}

function isOurs(handler: unknown): boolean {
  return fieldIn(handler, "name") === "entelix-otel";
}
