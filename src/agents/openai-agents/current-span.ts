import { AsyncLocalStorage } from "node:async_hooks";
import { inFoundContext } from "../../bridge/door.ts";
import { fieldIn, fieldsOf } from "../core/door.ts";
import type { SdkSpan, SdkSpanData } from "./sdk.ts";

/** The global in which all copies of the SDK share the storage of their current span. */
const STORAGE = Symbol.for("openai.agents.core.asyncLocalStorage");

/** The position of a span: calls code inside it, and the names of its run and call. */
export interface SpanPosition {
  /** Equal for spans without an own span here, such as a turn and its agent. */
  readonly key: string;
  within(work: () => void): void;
}

/** Finds the position of a span of the SDK. `undefined`: it has none, or it has ended. */
export type FindPosition = (span: Pick<SdkSpan, "spanId" | "traceId">) => SpanPosition | undefined;

/** Who finds the position of a span, by the span's data, which copies of the span share. */
const finders = new WeakMap<object, FindPosition>();
/** The context of a tool call that has ended, by the store that the SDK made for its code. */
const ended = new WeakMap<object, (read: () => void) => void>();
const watched = new WeakSet<object>();

/** The SDK's span of the running code, or a copy of it with the same data. */
export function currentSpan(): unknown {
  return fieldIn(currentStore(), "span");
}

function currentStore(): unknown {
  const storage = storageOf();
  const getStore = fieldIn(storage, "getStore");
  return typeof getStore === "function" ? Reflect.apply(getStore, storage, []) : undefined;
}

/** Code that runs in a span of this data runs inside the span of its call. */
export function findBy(data: SdkSpanData, find: FindPosition): void {
  finders.set(data, find);
}

/** A span ends. Code that a tool call leaves behind, as a timer, stays inside the call's span. */
export function keepPosition({ error, spanData }: SdkSpan): void {
  // The span of a rejected call has an error. It was never made.
  if (spanData.type !== "function" || error !== null) return;
  const store = currentStore();
  const span = fieldIn(store, "span");
  if (typeof store !== "object" || store === null || fieldIn(span, "spanData") !== spanData) return;
  positionOf(span)?.within(() => ended.set(store, AsyncLocalStorage.snapshot()));
}

/**
 * Runs the code of the SDK's spans in an OpenTelemetry context that follows the SDK's current span. The SDK runs such
 * code with `run` of its storage, so this method is wrapped, once for each storage.
 */
export function watchCode(): void {
  const storage = storageOf() ?? newStorage();
  const run = fieldIn(storage, "run");
  if (typeof storage !== "object" || storage === null || typeof run !== "function") return;
  if (watched.has(storage)) return;
  watched.add(storage);
  Reflect.set(storage, "run", (store: unknown, work: unknown, ...args: unknown[]) => {
    const inside =
      typeof work === "function"
        ? () => inFoundContext(enterIn(store), () => Reflect.apply(work, undefined, args))
        : work;
    return Reflect.apply(run, storage, [store, inside]);
  });
}

function storageOf(): unknown {
  return Reflect.get(globalThis, STORAGE);
}

/** The SDK makes its storage with its first trace, unless there is one. */
function newStorage(): object {
  const value = new AsyncLocalStorage();
  Object.defineProperty(globalThis, STORAGE, { value, writable: true, configurable: true });
  return value;
}

/** @param store holds the current span of the code, which changes. */
function enterIn(store: unknown) {
  const around = fieldIn(store, "span");
  return (read: () => void): void => {
    const position = positionOf(fieldIn(store, "span"));
    // If the code is still where it was called, the context there may have a span of the application.
    if (position !== undefined && position.key !== positionOf(around)?.key) position.within(read);
    else if (typeof store === "object" && store !== null) ended.get(store)?.(read);
  };
}

function positionOf(span: unknown): SpanPosition | undefined {
  const data = fieldsOf(fieldIn(span, "spanData"));
  const spanId = fieldIn(span, "spanId");
  const traceId = fieldIn(span, "traceId");
  if (data === undefined || typeof spanId !== "string" || typeof traceId !== "string") return;
  return finders.get(data)?.({ spanId, traceId });
}
