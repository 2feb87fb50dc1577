/**
 * The SIGHUPs that come: from here on none ends the process. One that comes while a service is still
 * opening its journal is answered when it can be.
 */
export class HangUps {
  #answer: (() => Promise<void>) | undefined;
  #came = false;
  #last: Promise<void> = Promise.resolve();
  readonly #onSignal = () => {
    this.#came = true;
    this.#next();
  };

  constructor() {
    process.on("SIGHUP", this.#onSignal);
  }

  /** Has `answer` called at each signal, one call after the other; at once where one has come before. */
  answerBy(answer: () => Promise<void>): void {
    this.#answer = answer;
    this.#next();
  }

  /** SIGHUP does again what it always does. */
  release(): void {
    process.off("SIGHUP", this.#onSignal);
  }

  #next(): void {
    const answer = this.#answer;
    if (answer === undefined || !this.#came) return;
    this.#came = false;
    this.#last = this.#last.then(answer);
  }
}
