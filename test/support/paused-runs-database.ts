/** A store of paused runs as a database would be: JSON text, and an answer in a later task. */
export function pausedRunsDatabase() {
  const rows = new Map<string, string>();
  const later = () => new Promise((resolve) => setImmediate(resolve));
  return {
    rows,
    store: {
      async get(key: string) {
        await later();
        return JSON.parse(rows.get(key) ?? "null");
      },
      async set(key: string, run: object) {
        await later();
        rows.set(key, JSON.stringify(run));
      },
      async delete(key: string) {
        await later();
        rows.delete(key);
      },
    },
  };
}
