import { isPromise, property } from "../../events/door.ts";
import { listOf } from "../core/door.ts";
import { carried } from "../runtime/door.ts";
import { SPAN_SCOPE } from "./handler.ts";
import { runningConfig, signalIn } from "./running-config.ts";
import type { SpanScope } from "./scope.ts";

/** A method whose arguments include the call's manager, which has LangChain's run ID and the handlers. */
type Work = (this: unknown, ...args: readonly unknown[]) => unknown;

/**
 * Methods that bind tools or options to a model. Most return a binding to the same model, `ChatOpenAI` a new model.
 */
const COPYING = ["withConfig", "bindTools"];

const WRAPPED: unique symbol = Symbol.for("entelix-otel.langchain-in-span.v1");

/**
 * Makes the code of a tool, chat model, retriever, runnable function or node of a graph run inside the span of its
 * call or step. HTTP and database spans become children of that span. Runs that the code starts become child runs. An
 * object is changed in place, once. Calls without a handler work as before.
 *
 * LangChain's callbacks cannot do this, because they do not run the call.
 *
 * @returns the same object. For a function, another function that does the same.
 * @throws TypeError when an object has none of `_call`, `_generate`, `_getRelevantDocuments` and `func`.
 *
 * @example
 * const tools = [search, refund].map(inSpan);
 * const model = inSpan(new ChatOpenAI({ model: "gpt-5" }));
 * graph.addNode("load", inSpan(async (state) => ({ page: await (await fetch(state.url)).text() })));
 */
export function inSpan<T extends object>(callee: T): T {
  if (typeof callee === "function") {
    return new Proxy(callee, {
      apply: (work, self, args) => running(() => Reflect.apply(work, self, args)),
    });
  }
  // A model may also have a `_call` with other arguments.
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
  if (isWork(call)) {
    replace(callee, "_call", call, 1, carriedCall);
    return callee;
  }
  const func: unknown = property(callee, "func");
  if (!isWork(func)) {
    throw new TypeError(
      "callee: expected a function, a tool with `_call`, a chat model with `_generate`, a retriever with " +
        "`_getRelevantDocuments`, or a runnable with `func`",
    );
  }
  if (property(func, WRAPPED) !== true) {
    put(callee, "func", (...args) => running(() => Reflect.apply(func, callee, args)));
  }
  return callee;
}

/** Runs code inside the call or step that LangChain is running. */
function running(call: () => unknown): unknown {
  const scope = runningScope();
  return scope === undefined ? call() : carriedCall(scope, call);
}

function runningScope(): SpanScope | undefined {
  return scopeOfConfig(runningConfig());
}

/** The scope of the code that LangChain runs with that configuration: its callbacks are those of calls inside. */
export function scopeOfConfig(config: unknown): SpanScope | undefined {
  const inner: unknown = property(config, "callbacks");
  return scopeFor(property(inner, "_parentRunId"), inner, signalIn(config));
}

/** @param at index of the manager among the arguments. */
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
    // A tool gets its configuration after the manager.
    const scope = scopeIn(args[at], signalIn(args[at + 1]));
    return scope === undefined ? call() : within(scope, call);
  };
  put(callee, method, wrapped);
}

/** Wraps a method that copies the model, so that the copies are wrapped, too. */
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

/** Runs code inside the span, and the steps of an async generator that it returns. */
export function carriedCall(scope: SpanScope, call: () => unknown): unknown {
  const given = carried(scope.run.sink, scope.span, scope.run, call);
  const followed = (value: unknown) =>
    isIterable(value) && isWork(property(value, "next"))
      ? carriedChunks(scope, () => value)
      : value;
  return isPromise(given) ? given.then(followed) : followed(given);
}

/** The scope of the call. */
function scopeIn(manager: unknown, signal: AbortSignal | undefined): SpanScope | undefined {
  return scopeFor(property(manager, "runId"), manager, signal);
}

/** The scope of a call, from the first handler of this package. */
function scopeFor(
  runId: unknown,
  manager: unknown,
  signal: AbortSignal | undefined,
): SpanScope | undefined {
  if (typeof runId !== "string") return undefined;
  for (const handler of listOf(property(manager, "handlers")) ?? []) {
    if (!hasScopes(handler)) continue;
    const scope = handler[SPAN_SCOPE](runId, signal);
    if (scope !== undefined) return scope;
  }
  return undefined;
}

function hasScopes(
  handler: unknown,
): handler is { [SPAN_SCOPE](runId: string, signal?: AbortSignal): SpanScope | undefined } {
  return typeof property(handler, SPAN_SCOPE) === "function";
}

function isWork(value: unknown): value is Work {
  return typeof value === "function";
}

const STREAMS = "_streamResponseChunks";

/**
 * The model's streaming method. `undefined` if only the base class has it, which means that the model cannot stream.
 * LangChain compares the two in the same way.
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

/**
 * Runs the steps of a stream or an async generator inside the span. The reader gets the same values and errors as
 * without it: also the value that the generator returns. What the reader sends and throws reaches the generator.
 */
export async function* carriedChunks(
  scope: SpanScope,
  begin: () => unknown,
): AsyncGenerator<unknown, unknown, unknown> {
  const inside = <R>(work: () => R): R => carried(scope.run.sink, scope.span, scope.run, work);
  const chunks: unknown = inside(begin);
  if (!isIterable(chunks)) throw new TypeError(`${STREAMS}: expected an async iterable`);
  const steps = chunks[Symbol.asyncIterator]();
  const { return: leave, throw: fail } = steps;
  const carriedSteps: AsyncIterator<unknown, unknown, unknown> = {
    next: (sent) => inside(() => steps.next(sent)),
    // `yield*` needs to know which of the two the iterator has.
    ...(leave && { return: (value) => inside(() => leave.call(steps, value)) }),
    ...(fail && { throw: (error) => inside(() => fail.call(steps, error)) }),
  };
  return yield* { [Symbol.asyncIterator]: () => carriedSteps };
}

function isIterable(value: unknown): value is AsyncIterable<unknown, unknown, unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
