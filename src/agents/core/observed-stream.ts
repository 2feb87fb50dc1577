import { fieldsOf } from "./narrow.ts";

/** What becomes of a model's stream. */
export interface StreamObserver {
  /** A part, before the SDK gets it. */
  part(part: unknown): void;
  failed(thrown: unknown): void;
  /** The reader has left. */
  cancelled(reason: unknown): void;
}

/**
 * What a model call gave, with its stream observed, if it has one. Parts are read when the SDK asks for
 * them, as before.
 */
export function observed<T>(result: T, observer: StreamObserver): T {
  const stream = fieldsOf(result)?.stream;
  if (!(stream instanceof ReadableStream)) return result;
  return { ...result, stream: observedStream(stream, observer) };
}

/** The same stream, observed. */
export function observedStream<T>(
  stream: ReadableStream<T>,
  observer: StreamObserver,
): ReadableStream<T> {
  const reader = stream.getReader();
  // A reader that leaves may do so while the next part is on its way.
  let isLeft = false;
  let isBroken = false;
  const broken = (error: unknown) => {
    if (isBroken) return;
    isBroken = true;
    observer.failed(error);
  };
  // A reader that has stopped reading does not see an error: an aborted stream would never end.
  reader.closed.catch(broken);
  return new ReadableStream<T>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (isLeft) return;
          if (done) {
            controller.close();
            return;
          }
          observer.part(value);
          controller.enqueue(value);
        } catch (error) {
          if (isLeft) return;
          broken(error);
          controller.error(error);
        }
      },
      cancel(reason) {
        isLeft = true;
        observer.cancelled(reason);
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
