/** What a setup of this package does, for `doctor --import`. */
export type SetupStep =
  | {
      readonly step: "setup";
      /** Both as in the options; `undefined`: as the variables say. */
      readonly endpoint: string | undefined;
      readonly headers: Readonly<Record<string, string>> | undefined;
    }
  /** Before the provider is unregistered. */
  | { readonly step: "shutdown" };

/** A global name, because the application may have another copy of this package. */
const WATCH: unique symbol = Symbol.for("entelix-otel.setup-watch.v1");

/** Calls the watcher of this process. Only `doctor --import` has one. */
export function reportStep(step: SetupStep): void {
  const watch: unknown = Reflect.get(globalThis, WATCH);
  if (typeof watch === "function") Reflect.apply(watch, undefined, [step]);
}

/** Calls `watch` for each setup and shutdown of this process. It must not throw. */
export function watchSetups(watch: (step: SetupStep) => void): void {
  Reflect.set(globalThis, WATCH, watch);
}
