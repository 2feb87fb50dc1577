import { describe, expect, it } from "vitest";
import {
  isProtocolError,
  kafkaMessage,
  loadKafkaLibrary,
} from "../../../src/service/kafka/kafka-library.ts";
import { protocolError } from "./records.ts";

class Consumer {
  joinGroup() {}
  leaveGroup() {}
  commit() {}
  listCommittedOffsets() {}
  listOffsets() {}
  fetch() {}
  metadata() {}
  close() {}
  on() {}
  get connections() {
    return {};
  }
}
class Producer {
  send() {}
  metadata() {}
  close() {}
}

describe("loadKafkaLibrary", () => {
  it("asks for the client by its name", async () => {
    const asked: string[] = [];
    const library = { Consumer, Producer, compressionsAlgorithms: {} };
    const loaded = await loadKafkaLibrary(async (name) => {
      asked.push(name);
      return library;
    });
    expect(loaded).toBe(library);
    expect(asked).toEqual(["@platformatic/kafka"]);
  });

  it("says what to install, and for which Node", async () => {
    const error = Object.assign(new Error("Cannot find package '@platformatic/kafka'"), {
      code: "ERR_MODULE_NOT_FOUND",
    });
    const loading = loadKafkaLibrary(() => Promise.reject(error));
    await expect(loading).rejects.toThrow(
      `@platformatic/kafka: it is not installed. Run: npm install @platformatic/kafka@^2.12 beside entelix-otel. It needs Node 22.22 or newer; this is ${process.version}.`,
    );
  });

  it("tells why an installed one does not run", async () => {
    const error = new SyntaxError("Unexpected token");
    await expect(loadKafkaLibrary(() => Promise.reject(error))).rejects.toThrow(
      /@platformatic\/kafka: SyntaxError: Unexpected token\. .*Node 22\.22/,
    );
  });

  it.each([
    [{}],
    [undefined],
    [{ Consumer, Producer: {} }],
    [{ Consumer: class {}, Producer }],
    [{ Consumer, Producer }],
  ])("refuses a module of another shape", async (module) => {
    await expect(loadKafkaLibrary(async () => module)).rejects.toThrow(/expected its version 2/);
  });
});

describe("errors of the client", () => {
  it("are told by their name in the protocol, wherever it stands", () => {
    const error = protocolError("OFFSET_OUT_OF_RANGE");
    expect(isProtocolError(error, "OFFSET_OUT_OF_RANGE")).toBe(true);
    expect(isProtocolError(new Error("x", { cause: error }), "OFFSET_OUT_OF_RANGE")).toBe(true);
    expect(isProtocolError(error, "ILLEGAL_GENERATION")).toBe(false);
    expect(isProtocolError("OFFSET_OUT_OF_RANGE", "OFFSET_OUT_OF_RANGE")).toBe(false);
  });

  it("say what they consist of, once each", () => {
    const twice = new AggregateError([new Error("no route"), new Error("no route")], "failed");
    expect(kafkaMessage(twice)).toBe("no route");
    expect(kafkaMessage(protocolError("NOT_COORDINATOR"))).toBe("NOT_COORDINATOR");
    expect(kafkaMessage(new TypeError(""))).toBe("TypeError");
    expect(kafkaMessage("odd")).toBe("odd");
  });
});
