import { property, textProperty } from "../../events/door.ts";

/** LangChain's async storage, and the key of the configuration in it. */
const STORAGE = Symbol.for("ls:tracing_async_local_storage");
const CONFIG = Symbol.for("lc:child_config");

/** The configuration of the code that LangChain is running. `undefined`: it runs none, or has no async storage. */
export function runningConfig(): unknown {
  const storage: unknown = Reflect.get(globalThis, STORAGE);
  const read: unknown = property(storage, "getStore");
  if (typeof read !== "function") return undefined;
  return property(property(Reflect.apply(read, storage, []), "extra"), CONFIG);
}

/** LangChain's ID of the call whose code has this configuration. */
export function parentIn(config: unknown): string | undefined {
  return textProperty(property(config, "callbacks"), "_parentRunId");
}

/** The abort signal of a configuration or of a model's options. */
export function signalIn(config: unknown): AbortSignal | undefined {
  const signal: unknown = property(config, "signal");
  return signal instanceof AbortSignal ? signal : undefined;
}
