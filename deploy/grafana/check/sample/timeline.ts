/** Things that happen at their time, in seconds since 1970. */
export class Timeline {
  readonly #planned: { readonly at: number; readonly happen: () => void }[] = [];

  plan(at: number, happen: () => void): void {
    this.#planned.push({ at, happen });
  }

  /** Lets happen what is planned up to each sample, then takes it. */
  play(from: number, to: number, every: number, sample: (time: number) => void): void {
    this.#planned.sort((a, b) => a.at - b.at);
    let next = 0;
    for (let time = from; time <= to; time += every) {
      for (let each = this.#planned[next]; each !== undefined && each.at <= time; ) {
        each.happen();
        each = this.#planned[++next];
      }
      sample(time);
    }
  }
}
