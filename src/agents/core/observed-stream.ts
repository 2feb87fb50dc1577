import { fieldsOf } from "./narrow.ts";

/** Receives the events of a model's stream. */
export interface StreamObserver {
  /** Called before the SDK gets the part. */
  part(part: unknown): void;
  failed(thrown: unknown): void;
  /** The reader cancelled the stream. */
  cancelled(reason: unknown): void;
}

/**
 * Observes the stream of a model call's result, if it has one. Parts are still read only when the SDK asks for them.
 */
export function observed<T>(result: T, observer: StreamObserver): T {
  const stream = fieldsOf(result)?.stream;
  if (!(stream instanceof ReadableStream)) return result;
  return { ...result, stream: observedStream(stream, observer) };
}

/** A stream with the same parts, which reports them to the observer. */
export function observedStream<T>(
  stream: ReadableStream<T>,
  observer: StreamObserver,
): ReadableStream<T> {
  const reader = stream.getReader();
  // A reader may cancel while a read is pending.
  let isLeft = false;
  let isBroken = false;
  const broken = (error: unknown) => {
    if (isBroken) return;
    isBroken = true;
    observer.failed(error);
  };
  // A reader that stopped reading does not get an error. Without this, an aborted stream would never end.
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
