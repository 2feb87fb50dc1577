import { type Fields, textOf } from "../shape.ts";
import type { LangChainHandlerOptions } from "./handler-options.ts";

/** Whose runs those of an invocation are. */
export class Tenants {
  readonly #given: LangChainHandlerOptions["tenant"];

  constructor(given: LangChainHandlerOptions["tenant"]) {
    if (typeof given !== "function" && textOf(given) === undefined) {
      throw new TypeError("tenant: expected text that is not empty, or a function that gives it");
    }
    this.#given = given;
  }

  /** What the invocation itself says, where that counts. */
  explicit(metadata: Fields | undefined): string | undefined {
    return typeof this.#given === "string" ? textOf(metadata?.tenant_id) : undefined;
  }

  /** @throws TypeError when the function gives no text, and whatever it throws itself. */
  of(metadata: Fields | undefined): string {
    if (typeof this.#given === "string") return this.explicit(metadata) ?? this.#given;
    const tenant: unknown = this.#given(metadata ?? {});
    if (typeof tenant === "string" && tenant !== "") return tenant;
    throw new TypeError(`tenant: expected the function to give text, got ${typeof tenant}`);
  }
}
