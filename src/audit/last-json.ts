/** The JSON of an id, kept for as long as the same one is asked for. */
export class LastJson {
  #id: string | null = null;
  #json = "null";

  of(id: string | null): string {
    if (id !== this.#id) {
      this.#id = id;
      this.#json = JSON.stringify(id);
    }
    return this.#json;
  }
}
