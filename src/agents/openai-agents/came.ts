import { isPromise } from "../../events/door.ts";

/** What came of the code of a call: the SDK's span has no more than texts of it. */
export type Came = { readonly value: unknown } | { readonly thrown: unknown };

/** Calls `work` and tells what came of it, before anybody else hears of it. */
export function watched<T>(work: () => T, tell: (came: Came) => void): T {
  let given: T;
  try {
    given = work();
  } catch (thrown) {
    tell({ thrown });
    throw thrown;
  }
  if (isPromise(given)) {
    given.then(
      (value) => tell({ value }),
      (thrown: unknown) => tell({ thrown }),
    );
  } else tell({ value: given });
  return given;
}
