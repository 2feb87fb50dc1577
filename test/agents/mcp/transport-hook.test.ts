import { describe, expect, it } from "vitest";
import { Containment } from "../../../src/agents/core/door.ts";
import { isSameTool } from "../../../src/agents/mcp/call-scopes.ts";
import { type TransportWatch, watchTransport } from "../../../src/agents/mcp/transport-hook.ts";

function watching(over: Partial<TransportWatch> = {}) {
  const seen: string[] = [];
  const watch: TransportWatch = {
    sending: (message) => {
      seen.push(`sending ${message}`);
      return message;
    },
    receiving: (message) => {
      seen.push(`receiving ${message}`);
      return undefined;
    },
    closed: () => void seen.push("closed"),
    ...over,
  };
  const containment = new Containment((error) => void seen.push(String(error)));
  return { seen, watches: (transport: object) => watchTransport(transport, watch, containment) };
}

type Callback = (...args: readonly unknown[]) => void;

/** As the SDK's transport for Node: it hands its callbacks on to a transport inside. */
class Handing {
  readonly inner: { onmessage?: Callback | undefined; onclose?: Callback | undefined } = {};
  get onmessage(): Callback | undefined {
    return this.inner.onmessage;
  }
  set onmessage(callback: Callback | undefined) {
    this.inner.onmessage = callback;
  }
  get onclose(): Callback | undefined {
    return this.inner.onclose;
  }
  set onclose(callback: Callback | undefined) {
    this.inner.onclose = callback;
  }
  async send(message: unknown): Promise<unknown> {
    return message;
  }
}

class Plain {
  onmessage?: Callback;
  onclose?: Callback;
  async send(message: unknown): Promise<unknown> {
    return message;
  }
}

describe.each([
  ["plain", () => new Plain()],
  ["handing its callbacks on", () => new Handing()],
])("a transport that is %s", (_, make) => {
  it("is watched in both directions, and works as before", async () => {
    const transport = make();
    const { seen, watches } = watching();
    watches(transport);
    const got: unknown[] = [];
    transport.onmessage = (message, extra) => void got.push([message, extra]);
    transport.onclose = () => void got.push("closed");
    expect(await transport.send("out")).toBe("out");
    const from = transport instanceof Handing ? transport.inner : transport;
    from.onmessage?.("in", { authInfo: "ada" });
    from.onclose?.();
    expect(got).toEqual([["in", { authInfo: "ada" }], "closed"]);
    expect(seen).toEqual(["sending out", "receiving in", "closed"]);
  });

  it("is watched once where who connects again calls the callback before", () => {
    const transport = make();
    const { seen, watches } = watching();
    watches(transport);
    const got: unknown[] = [];
    transport.onmessage = (message) => void got.push(`first ${message}`);
    const before = transport.onmessage;
    transport.onmessage = (message) => {
      before?.(message);
      got.push(`second ${message}`);
    };
    transport.onmessage("in");
    expect(got).toEqual(["first in", "second in"]);
    expect(seen).toEqual(["receiving in"]);
  });

  it("is watched where it had a callback before", () => {
    const transport = make();
    const got: unknown[] = [];
    transport.onmessage = (message) => void got.push(message);
    const { seen, watches } = watching();
    watches(transport);
    transport.onmessage("in");
    expect([got, seen]).toEqual([["in"], ["receiving in"]]);
  });
});

describe("what the watch throws", () => {
  it("stops no message", async () => {
    const fail = () => {
      throw new Error("trouble");
    };
    const { seen, watches } = watching({ sending: fail, receiving: fail, closed: fail });
    const transport = new Plain();
    watches(transport);
    const got: unknown[] = [];
    transport.onmessage = (message) => void got.push(message);
    transport.onclose = () => void got.push("closed");
    expect(await transport.send("out")).toBe("out");
    transport.onmessage("in");
    transport.onclose();
    expect(got).toEqual(["in", "closed"]);
    expect(seen).toEqual(Array(3).fill("Error: trouble"));
  });

  it("of a delivery is what its receiver throws", () => {
    const { watches } = watching({ receiving: () => (work) => work() });
    const transport = new Plain();
    watches(transport);
    transport.onmessage = () => {
      throw new Error("of the receiver");
    };
    expect(() => transport.onmessage?.("in")).toThrow("of the receiver");
  });
});

describe("an open tool call of a framework", () => {
  it.each([
    ["find_order", "find_order", true],
    ["shop__find_order", "find_order", true],
    ["mcp-shop-find-order", "find_order", true],
    ["shop.find_order", "find_order", true],
    ["refind_order", "find_order", false],
    ["find_order_now", "find_order", false],
    [undefined, "find_order", false],
    ["shop_", "", false],
  ])("named %s is the MCP call of %s: %s", (open, tool, is) => {
    expect(isSameTool(open, tool)).toBe(is);
  });
});
