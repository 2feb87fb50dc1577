import { property } from "../../events/door.ts";

/** Runs a piece of work inside something, once, and gives what comes of it. */
export type Around = <T>(work: () => T) => T;

/** What watches the messages of a transport. What its functions throw reaches no message. */
export interface TransportWatch {
  /** A message goes out. @returns the message to send in its place. */
  sending(message: unknown): unknown;
  /** A message came in. @returns what its delivery is to run inside of. Default: nothing. */
  receiving(message: unknown, extra: unknown): Around | undefined;
  /** The connection has closed. */
  closed(): void;
  troubled(error: unknown): void;
}

type Callback = (this: unknown, ...args: readonly unknown[]) => unknown;

/**
 * Watches the messages of a transport, of either version of the SDK, in place: the SDKs know their
 * transports by class and by identity, so another object in its place is not the same.
 *
 * `onmessage` and `onclose` are set later, by the client or server that connects. The node transports of the SDK hand them
 * on to a transport inside, by accessors, which stay in use.
 */
export function watchTransport(transport: object, watch: TransportWatch): void {
  const send: unknown = property(transport, "send");
  if (isCallback(send)) {
    const watched: Callback = function (message, ...rest) {
      let out = message;
      try {
        out = watch.sending(message);
      } catch (error) {
        watch.troubled(error);
      }
      return Reflect.apply(send, this, [out, ...rest]);
    };
    Object.defineProperty(transport, "send", {
      value: watched,
      writable: true,
      configurable: true,
    });
  }
  let current: unknown;
  interceptCallback(
    transport,
    "onmessage",
    (deliver) =>
      function (message, extra, ...rest) {
        const call = () => Reflect.apply(deliver, this, [message, extra, ...rest]);
        // Who connects again calls the callback that was there before, for the same message.
        if (message === current) return call();
        const before = current;
        current = message;
        try {
          const around = attempt(watch, () => watch.receiving(message, extra));
          return around === undefined ? call() : around(call);
        } finally {
          current = before;
        }
      },
  );
  interceptCallback(
    transport,
    "onclose",
    (close) =>
      function (...args) {
        attempt(watch, () => watch.closed());
        return Reflect.apply(close, this, args);
      },
  );
}

/** Puts a callback of ours around every one that is set for that name. */
function interceptCallback(
  transport: object,
  name: string,
  around: (callback: Callback) => Callback,
): void {
  const before = descriptorOf(transport, name);
  let held: unknown = before?.get === undefined ? before?.value : undefined;
  const there: unknown = property(transport, name);
  Object.defineProperty(transport, name, {
    configurable: true,
    enumerable: true,
    get: () => (before?.get === undefined ? held : Reflect.apply(before.get, transport, [])),
    set: (given: unknown) => {
      const callback = isCallback(given) ? around(given) : given;
      if (before?.set === undefined) held = callback;
      else Reflect.apply(before.set, transport, [callback]);
    },
  });
  // It is connected already.
  if (isCallback(there)) Reflect.set(transport, name, there);
}

function descriptorOf(object: object, name: string): PropertyDescriptor | undefined {
  for (let at: unknown = object; typeof at === "object" && at !== null; ) {
    const found = Object.getOwnPropertyDescriptor(at, name);
    if (found !== undefined) return found;
    at = Object.getPrototypeOf(at);
  }
  return undefined;
}

function attempt<T>(watch: TransportWatch, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    watch.troubled(error);
    return undefined;
  }
}

function isCallback(value: unknown): value is Callback {
  return typeof value === "function";
}
