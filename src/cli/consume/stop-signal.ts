const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Resolves when the process is told to end. Told a second time it ends at once: whoever asks twice does
 * not want to wait.
 */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) {
      process.once(signal, () => {
        for (const other of SIGNALS) process.once(other, () => process.exit(1));
        resolve(signal);
      });
    }
  });
}
