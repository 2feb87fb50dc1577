/** Nothing came within the bound. */
export class Hung extends Error {
  constructor(what: string, ms: number) {
    super(`${what}: nothing within ${ms / 1000} s`);
    this.name = "Hung";
  }
}

/** What the work resolves with. @throws Hung when it takes longer than `ms`. */
export async function bounded<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Hung(what, ms)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // Whoever waited for it has gone.
    work.catch(() => {});
  }
}
