import { fieldIn } from "../core/door.ts";

/** The global in which all copies of the SDK share the storage of their current span. */
const STORAGE = Symbol.for("openai.agents.core.asyncLocalStorage");

/** The SDK's span of the running code, or a copy of it with the same data. */
export function currentSpan(): unknown {
  const storage: unknown = Reflect.get(globalThis, STORAGE);
  const getStore = fieldIn(storage, "getStore");
  if (typeof getStore !== "function") return undefined;
  return fieldIn(Reflect.apply(getStore, storage, []), "span");
}
