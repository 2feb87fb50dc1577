import { expect } from "vitest";
import { listen } from "./told.ts";

/** Something that is done with the SDK, and all that is told of it. */
export interface Scene {
  readonly name: string;
  readonly work: () => Promise<unknown>;
  readonly told: readonly string[];
  readonly tree: string;
  /** Those that are not 0. */
  readonly counts?: object;
}

/** Plays a scene, and compares events, spans and counts. */
export async function expectTold({ work, told, tree, counts = {} }: Scene): Promise<void> {
  const heard = listen();
  await work();
  expect(await heard.events()).toEqual(told);
  expect(await heard.tree()).toBe(tree.slice(1));
  const counted = Object.entries(heard.processor.counts).filter(([, count]) => count > 0);
  expect(Object.fromEntries(counted)).toEqual(counts);
  expect(heard.processor.counts.sinkFailures).toBe(0);
  expect(heard.bridge.diagnostics().openRuns).toBe(0);
  for (const ended of heard.ended.values()) expect(ended).toBe(1);
  expect(heard.ended.size).toBe(heard.started.size);
}
