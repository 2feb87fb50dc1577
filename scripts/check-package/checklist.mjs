/** Runs checks one by one, prints what each found out, and knows at the end whether all was well. */
export class Checklist {
  #passed = 0;
  #failed = 0;
  #since = performance.now();

  /**
   * Runs one check. An error is printed under its title, and the next check runs all the same.
   *
   * @param body gets a function that takes a fact to print.
   * @returns what the body gives, `undefined` when it failed.
   */
  async check(title, body) {
    const facts = [];
    const since = performance.now();
    try {
      const value = await body((fact) => facts.push(fact));
      this.#passed++;
      console.log(`ok    ${title} (${seconds(since)})`);
      return value;
    } catch (error) {
      this.#failed++;
      console.log(`FAIL  ${title}`);
      console.log(indented(error instanceof Error ? error.message : String(error)));
      return undefined;
    } finally {
      for (const fact of facts) console.log(indented(fact));
    }
  }

  /** Prints the sum. @returns the exit code. */
  close() {
    console.log(`${this.#passed} checks held, ${this.#failed} failed (${seconds(this.#since)})`);
    return this.#failed === 0 && this.#passed > 0 ? 0 : 1;
  }
}

const indented = (text) => text.trimEnd().replaceAll(/^/gm, "      ");

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;
