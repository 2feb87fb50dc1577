import { property } from "../../events/door.ts";
import { listOf } from "../core/narrow.ts";
import { carried } from "../runtime/active-run.ts";
import { SPAN_SCOPE } from "./handler.ts";
import type { SpanScope } from "./scope.ts";

/** A method that is handed the call's manager, which knows LangChain's id of it, and the handlers. */
type Work = (this: unknown, ...args: readonly unknown[]) => unknown;

/** With these a model binds tools or options: most answer with a binding to the model, ChatOpenAI with another model. */
const COPYING = ["withConfig", "bindTools"];

const WRAPPED: unique symbol = Symbol.for("entelix-otel.langchain-in-span.v1");

/**
 * Makes the code of a tool, chat model or retriever run inside the span of its call. HTTP and database spans
 * become children of that span, and runs that a tool starts become child runs. It changes the
 * object in place, once. Calls without a handler work as before.
 *
 * LangChain's callbacks cannot do this, because they do not run the call.
 *
 * @returns what it was given.
 * @throws TypeError when that has none of `_call`, `_generate` and `_getRelevantDocuments`.
 *
 * @example
 * const tools = [search, refund].map(inSpan);
 * const model = inSpan(new ChatOpenAI({ model: "gpt-5" }));
 */
export function inSpan<T extends object>(callee: T): T {
  // A model may have a `_call` as well, of other arguments.
  const generate: unknown = property(callee, "_generate");
  if (isWork(generate)) {
    replace(callee, "_generate", generate, 2, carriedCall);
    const streams: unknown = streamsOf(callee);
    if (isWork(streams)) replace(callee, "_streamResponseChunks", streams, 2, carriedChunks);
    for (const method of COPYING) followCopies(callee, method);
    return callee;
  }
  const retrieve: unknown = property(callee, "_getRelevantDocuments");
  if (isWork(retrieve)) {
    replace(callee, "_getRelevantDocuments", retrieve, 1, carriedCall);
    return callee;
  }
  const call: unknown = property(callee, "_call");
  if (!isWork(call)) {
    throw new TypeError(
      "callee: expected a tool with `_call`, a chat model with `_generate`, or a retriever with `_getRelevantDocuments`",
    );
  }
  replace(callee, "_call", call, 1, carriedCall);
  return callee;
}

/** @param at where the manager is among the arguments. */
function replace(
  callee: object,
  method: string,
  work: Work,
  at: number,
  within: (scope: SpanScope, call: () => unknown) => unknown,
): void {
  if (property(work, WRAPPED) === true) return;
  const wrapped: Work = function (...args) {
    const call = () => Reflect.apply(work, this, args);
    const scope = scopeIn(args[at]);
    return scope === undefined ? call() : within(scope, call);
  };
  put(callee, method, wrapped);
}

/** Makes the copies that a method gives of its model run inside their calls' spans as well. */
function followCopies(model: object, method: string): void {
  const copies: unknown = property(model, method);
  if (!isWork(copies) || property(copies, WRAPPED) === true) return;
  put(model, method, function (...args) {
    const copy: unknown = Reflect.apply(copies, this, args);
    return isModel(copy) ? inSpan(copy) : copy;
  });
}

function put(callee: object, method: string, wrapped: Work): void {
  Object.defineProperty(wrapped, WRAPPED, { value: true });
  Object.defineProperty(callee, method, { value: wrapped, writable: true, configurable: true });
}

function isModel(value: unknown): value is object {
  return isWork(property(value, "_generate"));
}

function carriedCall(scope: SpanScope, call: () => unknown): unknown {
  return carried(scope.run.sink, scope.span, scope.run, call);
}

/** Where the first of our handlers among the call's own says that it is. */
function scopeIn(manager: unknown): SpanScope | undefined {
  const runId = property(manager, "runId");
  if (typeof runId !== "string") return undefined;
  for (const handler of listOf(property(manager, "handlers")) ?? []) {
    if (!hasScopes(handler)) continue;
    const scope = handler[SPAN_SCOPE](runId);
    if (scope !== undefined) return scope;
  }
  return undefined;
}

function hasScopes(
  handler: unknown,
): handler is { [SPAN_SCOPE](runId: string): SpanScope | undefined } {
  return typeof property(handler, SPAN_SCOPE) === "function";
}

function isWork(value: unknown): value is Work {
  return typeof value === "function";
}

const STREAMS = "_streamResponseChunks";

/**
 * The method with which a model streams; `undefined` where it has only its base class's, which says
 * that it does not: LangChain compares the two.
 */
export function streamsOf(model: object): unknown {
  const streams = property(model, STREAMS);
  let base: unknown;
  for (
    let at: unknown = model;
    typeof at === "object" && at !== null;
    at = Object.getPrototypeOf(at)
  ) {
    if (Object.hasOwn(at, STREAMS)) base = property(at, STREAMS);
  }
  return streams === base ? undefined : streams;
}

/** The chunks of a stream, each made inside the span. */
export async function* carriedChunks(
  scope: SpanScope,
  begin: () => unknown,
): AsyncGenerator<unknown> {
  const inside = <R>(work: () => R): R => carried(scope.run.sink, scope.span, scope.run, work);
  const chunks: unknown = inside(begin);
  if (!isIterable(chunks)) throw new TypeError(`${STREAMS}: expected an async iterable`);
  const steps = chunks[Symbol.asyncIterator]();
  let done = false;
  try {
    while (true) {
      const step = await inside(() => steps.next());
      if (step.done === true) {
        done = true;
        return;
      }
      yield step.value;
    }
  } catch (error) {
    done = true;
    throw error;
  } finally {
    // Left early by who reads it: the model may have a connection to give up.
    if (!done) await inside(() => steps.return?.());
  }
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
