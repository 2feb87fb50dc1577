import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { fieldIn, listOf } from "../core/door.ts";
import { LangChainHandler } from "../langchain/handler.ts";
import { carriedCall, inSpan, scopeOfConfig } from "../langchain/in-span.ts";
import type { Reporting } from "./agent-sink.ts";

const MANAGER = "@langchain/core/callbacks/manager";

/** LangChain's async storage, in which it runs nodes, tools and functions with their configuration. */
const STORAGE = "@langchain/core/singletons";

/** Classes whose objects run inside the span of their call: module, class, and the methods that start calls. */
const CALLED = [
  ["@langchain/core/language_models/chat_models", "BaseChatModel", "_generateUncached"],
  ["@langchain/core/language_models/chat_models", "BaseChatModel", "_streamIterator"],
  ["@langchain/core/retrievers", "BaseRetriever", "invoke"],
  ["@langchain/core/tools", "StructuredTool", "call"],
] as const;

/**
 * Adds a handler to every invocation of the application's LangChain that has no handler of this package. LangChain
 * has no handlers for a process, so the method that collects the handlers of an invocation is wrapped.
 *
 * @param entry the application's first file. Its LangChain is used.
 * @returns whether LangChain was found.
 */
export function enableLangChain(reporting: Reporting, entry: string): boolean {
  const require = createRequire(pathToFileURL(entry));
  /** Both builds may be in use: ESM by the application, CommonJS by a dependency. */
  const builds = (module: string): readonly unknown[] => {
    let path: string;
    try {
      path = require.resolve(module);
    } catch {
      return [];
    }
    return [...new Set([path, path.replace(/\.cjs$/, ".js")])].map((build) => require(build));
  };
  const managers = builds(MANAGER);
  if (managers.length === 0) return false;
  const handler = new LangChainHandler(reporting);
  for (const build of managers) wrap(fieldIn(build, "CallbackManager"), handler);
  for (const build of builds(STORAGE)) {
    runInside(fieldIn(build, "AsyncLocalStorageProviderSingleton"));
  }
  for (const [module, name, method] of CALLED) {
    for (const build of builds(module)) callInside(fieldIn(build, name), method);
  }
  return true;
}

/** Code that LangChain runs with a configuration runs inside the span of its call or step. */
function runInside(storage: unknown): void {
  const run = fieldIn(storage, "runWithConfig");
  if (typeof storage !== "object" || storage === null || typeof run !== "function") return;
  Reflect.set(storage, "runWithConfig", (config: unknown, work: unknown, ...more: unknown[]) => {
    const scope = typeof work === "function" ? scopeOfConfig(config) : undefined;
    const inside =
      scope === undefined || typeof work !== "function"
        ? work
        : () => carriedCall(scope, () => Reflect.apply(work, undefined, []));
    return Reflect.apply(run, storage, [config, inside, ...more]);
  });
}

/** Objects of the class run inside the span of their call from their first call on. */
function callInside(base: unknown, method: string): void {
  if (typeof base !== "function") return;
  const prototype: unknown = base.prototype;
  const call = fieldIn(prototype, method);
  if (typeof prototype !== "object" || prototype === null || typeof call !== "function") return;
  Reflect.set(prototype, method, function called(this: unknown, ...args: unknown[]) {
    try {
      if (typeof this === "object" && this !== null) inSpan(this);
    } catch {
      // A frozen object, or one without the method: its code stays outside of the span.
    }
    return Reflect.apply(call, this, args);
  });
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
