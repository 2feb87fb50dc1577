import { context, createContextKey } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { afterEach, beforeEach, expect, it } from "vitest";
import { inFoundContext } from "../../../src/bridge/spans/found-context.ts";

beforeEach(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
});
afterEach(() => context.disable());

const KEY = createContextKey("test");

it("code that starts its successor makes no chain of contexts", async () => {
  let left = 20_000;
  let seen: unknown;
  await context.with(context.active().setValue(KEY, "application"), async () => {
    await new Promise<void>((resolve) => {
      const next = () => {
        left -= 1;
        if (left > 0)
          void inFoundContext(
            () => {},
            async () => setImmediate(next),
          );
        else {
          seen = context.active().getValue(KEY);
          resolve();
        }
      };
      next();
    });
  });
  expect(seen).toBe("application");
});

it("code inside other code keeps the span of that code where it has none", () => {
  const outer = (read: () => void) => context.with(context.active().setValue(KEY, "outer"), read);
  const inner = (read: () => void) => context.with(context.active().setValue(KEY, "inner"), read);
  const read = () => context.active().getValue(KEY);
  expect(inFoundContext(outer, () => inFoundContext(() => {}, read))).toBe("outer");
  expect(inFoundContext(outer, () => inFoundContext(inner, read))).toBe("inner");
});
