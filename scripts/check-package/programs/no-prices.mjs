// `entelix-otel/prices` where its list is not installed, from ESM and CommonJS: the error names the package.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
for (const load of [
  () => import("entelix-otel/prices"),
  async () => require("entelix-otel/prices"),
]) {
  const error = await load().then(
    () => assert.fail("entelix-otel/prices: expected an error without its list"),
    (reason) => reason,
  );
  assert.match(error.code, /MODULE_NOT_FOUND$/);
  assert.match(error.message, /@pydantic\/genai-prices/);
  console.log(error.message.split("\n")[0].replace(/ imported from .*/, ""));
}
