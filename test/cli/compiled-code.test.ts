import { mkdirSync } from "node:fs";
import module from "node:module";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keepCompiledCode } from "../../src/cli/compiled-code.ts";
import { Folder } from "./support/folder.ts";

/** As Node 22.1 and later have it, whatever Node runs the tests. */
const enable = vi.fn();
const before = Object.getOwnPropertyDescriptor(module, "enableCompileCache");

beforeEach(() => {
  enable.mockClear();
  Object.defineProperty(module, "enableCompileCache", { value: enable, configurable: true });
});

afterEach(() => {
  Reflect.deleteProperty(module, "enableCompileCache");
  if (before !== undefined) Object.defineProperty(module, "enableCompileCache", before);
});

describe("compiled code", () => {
  it("is kept in the user's cache folder", () => {
    using folder = new Folder();
    mkdirSync(folder.at(".cache"));
    keepCompiledCode({ HOME: folder.path });
    keepCompiledCode({ HOME: "/nowhere", XDG_CACHE_HOME: folder.path });
    expect(enable.mock.calls).toEqual([
      [folder.at(".cache", "entelix-otel", "compiled")],
      [folder.at("entelix-otel", "compiled")],
    ]);
  });

  it("is kept nowhere if that folder is not there, or has no whole path", () => {
    using folder = new Folder();
    for (const env of [
      {},
      { HOME: folder.path },
      { HOME: "" },
      { HOME: "." },
      { XDG_CACHE_HOME: "." },
      { HOME: folder.path, XDG_CACHE_HOME: folder.at("missing") },
    ]) {
      keepCompiledCode(env);
    }
    expect(enable).not.toHaveBeenCalled();
  });

  it("is not kept by a Node that can't", () => {
    using folder = new Folder();
    Reflect.deleteProperty(module, "enableCompileCache");
    expect(() => keepCompiledCode({ XDG_CACHE_HOME: folder.path })).not.toThrow();
    expect(enable).not.toHaveBeenCalled();
  });
});
