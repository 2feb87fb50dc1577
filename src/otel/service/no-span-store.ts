import type { SpanStore } from "./span-store.ts";

/** For a service that only writes the audit log: spans go nowhere. */
export const noSpanStore: SpanStore = {
  async store() {
    return { refused: 0 };
  },
  async close() {},
};
