const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Runs `work` at the first SIGTERM or SIGINT, then lets the signal have its default effect. A second
 * signal has it at once. Where the application listens to the signal too, how the process ends is
 * left to that listener.
 *
 * @param work never rejects.
 * @returns takes the listeners away.
 */
export function onTermination(work: () => Promise<void>): () => void {
  const stopListening = () => {
    for (const signal of SIGNALS) process.removeListener(signal, take);
  };
  const take = async (signal: NodeJS.Signals) => {
    stopListening();
    await work();
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, take);
  return stopListening;
}
