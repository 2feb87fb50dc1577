import { property } from "../../errors/thrown.ts";
import { carried } from "../../runtime/carried.ts";
import type { SpanPlace } from "./span-place.ts";

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
  place: SpanPlace,
  begin: () => unknown,
): AsyncGenerator<unknown> {
  const inside = <R>(work: () => R): R => carried(place.run.sink, place.span, place.run, work);
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
