import { callHook, processWide } from "../../events/door.ts";

/** Ends of a process, beside its normal one, at which waiting data is sent. */
export interface EndOptions {
  /** SIGTERM and SIGINT. Default `false`. */
  readonly handleSignals?: boolean | undefined;
  /** Uncaught errors and unhandled rejections. Default `false`. */
  readonly handleErrors?: boolean | undefined;
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** The works that are under way. A process can have several setups, and none ends it before all have sent. */
const underWay = processWide("works-at-end", isSet, () => new Set());

function isSet(value: unknown): value is Set<Promise<unknown>> {
  return value instanceof Set;
}

async function allEnded(work: () => Promise<unknown>): Promise<void> {
  const own = work();
  underWay.add(own);
  while (underWay.size > 0) {
    const works = [...underWay];
    await Promise.allSettled(works);
    for (const each of works) underWay.delete(each);
  }
}

/**
 * Calls `work` before the process ends: when it has nothing else to do (`beforeExit`), and at the ends that the
 * options name. `process.exit` does not wait for it. An end during the work waits for it, too.
 *
 * - Other listeners of `beforeExit` may start work. It is done first.
 * - A signal has its default effect afterwards. A second signal has it at once. If the application listens to the
 *   signal, too, its listener must end the process.
 * - An uncaught error is thrown again afterwards, so Node prints it and sets the exit code. The application runs on
 *   meanwhile. A second error ends the process at once. If the application listens to `uncaughtException`, too, its
 *   listener must end the process.
 *
 * @param work never rejects. A second call waits for the first.
 * @returns removes the listeners.
 */
export function beforeProcessEnds(
  work: () => Promise<unknown>,
  options: EndOptions = {},
): () => void {
  const { handleErrors, handleSignals } = options;
  const signals = handleSignals === true ? SIGNALS : [];
  const stop = () => {
    process.removeListener("beforeExit", atIdle);
    process.removeListener("beforeExit", atEnd);
    process.removeListener("uncaughtException", atError);
    for (const signal of signals) process.removeListener(signal, atSignal);
  };
  const atEnd = () => callHook(work);
  // One more turn, after which the process is idle again unless a listener of the application started work.
  const atIdle = () => {
    process.once("beforeExit", atEnd);
    setImmediate(() => {});
  };
  // Counted before the work, since a listener of the application may remove itself when it is called.
  const atSignal = async (signal: NodeJS.Signals) => {
    stop();
    const isLast = process.listenerCount(signal) === 0;
    await allEnded(work);
    if (isLast) process.kill(process.pid, signal);
  };
  const atError = async (error: unknown) => {
    stop();
    const isLast = process.listenerCount("uncaughtException") === 0;
    await allEnded(work);
    if (!isLast) return;
    // Not in this promise: its rejection would be another error.
    setImmediate(() => {
      throw error;
    });
  };
  process.once("beforeExit", atIdle);
  // Called before the application's listeners, of which `once` removes some.
  if (handleErrors === true) process.prependListener("uncaughtException", atError);
  for (const signal of signals) process.prependListener(signal, atSignal);
  return stop;
}
