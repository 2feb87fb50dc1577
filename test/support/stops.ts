/** A reason of a class of the user's own. */
class ClientGone {
  readonly why = "client gone";
}

class ClientGoneError extends Error {}

/** Reasons of a stop, of every type. `undefined` gives the signal's own `AbortError`. */
export const STOP_REASONS: readonly (readonly [name: string, reason: unknown])[] = [
  ["no reason", undefined],
  ["an Error", new Error("client gone")],
  ["an AbortError", new DOMException("client gone", "AbortError")],
  ["a text", "client gone"],
  ["an empty text", ""],
  ["an object", { why: "client gone" }],
  ["a number", 499],
  ["null", null],
  ["an object of its own class", new ClientGone()],
  ["an error of its own class", new ClientGoneError("client gone")],
];

/** Work that listens to its signal, and fails with the reason as it is. */
export function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
