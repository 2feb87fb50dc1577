import type { Resource } from "@opentelemetry/resources";

/** Waits for the pending attributes of resources, at most `ms`. Does not keep the process alive. */
export async function attributesOf(resources: readonly Resource[], ms: number): Promise<void> {
  const pending = resources.map(async (resource) => resource.waitForAsyncAttributes?.());
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
    timer.unref();
  });
  await Promise.race([Promise.allSettled(pending), late]);
  clearTimeout(timer);
}
