import { property } from "../../events/door.ts";
import type { Containment } from "../core/door.ts";

/** Runs work inside a context, once, and returns its result. */
export type Around = <T>(work: () => T) => T;

/** Watches the messages of a transport. Its errors do not affect messages. */
export interface TransportWatch {
  /**
   * Called before a message is sent.
   *
   * @returns the message to send instead.
   */
  sending(message: unknown): unknown;
  /**
   * Called with a received message.
   *
   * @returns the context to deliver the message in. Default: none.
   */
  receiving(message: unknown, extra: unknown): Around | undefined;
  closed(): void;
}

type Callback = (this: unknown, ...args: readonly unknown[]) => unknown;

/**
 * Watches the messages of a transport of either SDK version. The transport is changed in place, because the SDKs
 * check its class and identity.
 *
 * The client or server sets `onmessage` and `onclose` when it connects. Node transports of the SDK forward them to an
 * inner transport with accessors, which stay in use.
 */
export function watchTransport(
  transport: object,
  watch: TransportWatch,
  containment: Containment,
): void {
  const send: unknown = property(transport, "send");
  if (isCallback(send)) {
    const watched: Callback = function (message, ...rest) {
      const out = containment.contain(() => watch.sending(message)) ?? message;
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
        // A client that connects again calls the earlier callback for the same message.
        if (message === current) return call();
        const before = current;
        current = message;
        try {
          const around = containment.contain(() => watch.receiving(message, extra));
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
        containment.contain(() => watch.closed());
        return Reflect.apply(close, this, args);
      },
  );
}

/** Wraps each callback that is set under that name. */
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
  // The transport is already connected.
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

function isCallback(value: unknown): value is Callback {
  return typeof value === "function";
}
