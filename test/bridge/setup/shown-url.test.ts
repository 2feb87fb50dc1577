import { describe, expect, it } from "vitest";
import { shownUrl, withoutUsers } from "../../../src/bridge/setup/shown-url.ts";

describe("an address for output", () => {
  it.each([
    ["http://u:pw@host:4318/v1/traces", "http://host:4318/v1/traces"],
    ["https://host/v1/traces?api_key=pw&x=1", "https://host/v1/traces?api_key=hidden&x=hidden"],
    ["https://host/0123456789abcdef0123/v1/traces", "https://host/hidden/v1/traces"],
    ["https://host/api/public/otel/v1/traces", "https://host/api/public/otel/v1/traces"],
    ["ftp://u:pw@host/a", "ftp://host/a"],
    ["http://u:pw@[bad", "http://[bad"],
    ["http://u:pw@host:9:9", "http://host:9:9"],
    ["htp://u:p@w@x y?key=pw", "htp://x y?hidden"],
    ["u:pw@host:4318", "host:4318"],
    ["collector:4318", "collector:4318"],
  ])("hides credentials: %s", (address, shown) => {
    expect(shownUrl(address)).toBe(shown);
  });

  it("is found in a text", () => {
    expect(withoutUsers("can't parse 'http://u:pw@[bad', mail me@example.org")).toBe(
      "can't parse 'http://[bad', mail me@example.org",
    );
  });
});
