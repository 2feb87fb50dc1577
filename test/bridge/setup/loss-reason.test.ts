import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { reasonOfFailure, shortText } from "../../../src/bridge/setup/span-ledger.ts";
import { deadUrl } from "../../support/otlp-server.ts";

describe("a name with several addresses that nobody listens at", () => {
  it("is said to be unreachable, with each of them", async () => {
    const port = Number(new URL(await deadUrl()).port);
    const addresses = ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 }));
    const socket = connect({
      host: "two-addresses",
      port,
      autoSelectFamily: true,
      lookup: (_name, _options, found) => found(null, addresses),
    });
    const [error] = await once(socket, "error").catch((thrown: unknown) => [thrown]);
    if (!(error instanceof AggregateError)) throw new Error(`unexpected: ${error}`);
    expect(error.message).toBe("");
    expect(reasonOfFailure(error)).toBe("unreachable");
    expect(shortText(error)).toBe(
      `connect ECONNREFUSED 127.0.0.1:${port}, connect ECONNREFUSED 127.0.0.2:${port}`,
    );
  });

  it("is named by its class where there are no words at all", () => {
    expect(shortText(new AggregateError([]))).toBe("AggregateError");
    expect(shortText(new TypeError())).toBe("TypeError");
  });
});

describe("reasonOfFailure", () => {
  const withCode = (code: unknown, message = "") => Object.assign(new Error(message), { code });
  it.each([
    [undefined, "export_failed"],
    [new Error("what"), "export_failed"],
    [new Error("Request timed out"), "timeout"],
    [withCode("ETIMEDOUT"), "timeout"],
    [withCode(413, "Payload Too Large"), "rejected"],
    [withCode("ECONNREFUSED"), "unreachable"],
    [withCode("ENOTFOUND"), "unreachable"],
    [withCode("CERT_HAS_EXPIRED"), "export_failed"],
  ])("%s is %s", (error, reason) => {
    expect(reasonOfFailure(error)).toBe(reason);
  });
});
