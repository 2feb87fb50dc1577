import { Agent } from "node:http";

/**
 * The requests of one of the SDK's exporters. Its `shutdown` does not end them: it retries on a timer, and a request keeps
 * its socket, both until the exporter's own timeout. Either would keep the process alive.
 *
 * The SDK has no function for that, so its retries and agents are looked up in the exporter's fields. In a version
 * without them, requests end at their timeout.
 */
export class StockRequests {
  readonly #exporter: object;
  /** Ends the waits before retries. */
  readonly #waits = new Set<() => void>();
  #isOver = false;

  constructor(exporter: object) {
    this.#exporter = exporter;
    for (const part of partsOf(exporter)) {
      const transport: unknown = Reflect.get(part, "_transport");
      if (!isTransport(transport) || typeof Reflect.get(part, "retry") !== "function") continue;
      Reflect.set(part, "retry", async (data: unknown, timeoutMs: unknown, afterMs: number) => {
        await this.#wait(afterMs);
        return transport.send(data, timeoutMs);
      });
    }
  }

  /** Ends all requests and waits. */
  end(): void {
    this.#isOver = true;
    for (const end of this.#waits) end();
    for (const part of partsOf(this.#exporter)) if (part instanceof Agent) part.destroy();
  }

  /** Rejects at the end. */
  #wait(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        this.#waits.delete(settle);
        if (this.#isOver) reject(new Error("given up"));
        else resolve();
      };
      const timer = setTimeout(settle, ms);
      this.#waits.add(settle);
      if (this.#isOver) settle();
    });
  }
}

interface Transport {
  send(data: unknown, timeoutMs: unknown): unknown;
}

function isTransport(value: unknown): value is Transport {
  return isObject(value) && typeof Reflect.get(value, "send") === "function";
}

/** Depth of the agent in the exporter's fields, with some reserve. */
const DEEPEST = 6;

/** An object, and the objects in its fields. */
function partsOf(whole: object): ReadonlySet<object> {
  const found = new Set([whole]);
  let last = [whole];
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    const inside = last.flatMap((part) => (part instanceof Agent ? [] : Object.values(part)));
    last = inside.filter(isObject).filter((part) => !found.has(part));
    for (const part of last) found.add(part);
  }
  return found;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
