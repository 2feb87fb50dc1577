import { describe, expect, it } from "vitest";
import { shownUrl, withoutSecretsOfUrls } from "../../../src/bridge/setup/shown-url.ts";

describe("an address for output", () => {
  it.each([
    ["http://u:pw@host:4318/v1/traces", "http://host:4318/v1/traces"],
    ["https://host/v1/traces?api_key=pw&x=1", "https://host/v1/traces?api_key=hidden&x=hidden"],
    ["https://host/0123456789abcdef0123/v1/traces", "https://host/hidden/v1/traces"],
    ["https://host/api/public/otel/v1/traces", "https://host/api/public/otel/v1/traces"],
    ["https://host/sk-live_a1B2c3D4e5F6/v1/traces", "https://host/hidden/v1/traces"],
    ["https://host/%41a1b2c3d4e5f6a7b8/v1;key=0123456789abcdef", "https://host/hidden/hidden"],
    ["https://host/v1/traces?0123456789abcdef", "https://host/v1/traces?hidden"],
    ["https://host/SECRETpw123/v1/traces", "https://host/hidden/v1/traces"],
    [
      "https://host/opentelemetry/e/abc123/v1/traces",
      "https://host/opentelemetry/e/abc123/v1/traces",
    ],
    ["https://host/v1/traces#pw", "https://host/v1/traces"],
    ["ftp://u:pw@host/a", "ftp://host/a"],
    ["ftp://host/a1b2c3d4e5f6a7b8c9d0/a?key=pw", "ftp://host/hidden/a?hidden"],
    ["http://u:pw@[bad", "http://[bad"],
    ["http://u:pw@host:9:9", "http://host:9:9"],
    ["htp://u:p@w@x y?key=pw", "htp://x y?hidden"],
    ["u:pw@host:4318", "host:4318"],
    ["collector:4318", "collector:4318"],
  ])("hides credentials: %s", (address, shown) => {
    expect(shownUrl(address)).toBe(shown);
  });

  it("is found in a text", () => {
    expect(withoutSecretsOfUrls("can't parse 'http://u:pw@[bad', mail me@example.org")).toBe(
      "can't parse 'http://[bad', mail me@example.org",
    );
    expect(withoutSecretsOfUrls("POST https://host/v1/traces?api_key=pw failed")).toBe(
      "POST https://host/v1/traces?hidden failed",
    );
  });
});
