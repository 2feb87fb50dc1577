import { expect, it } from "vitest";
import { FINAL_ERRORS } from "../../../src/service/kafka/dead-letter-topic.ts";
import { readPage, section } from "../../docs/pages.ts";

it.each([
  ["docs/consume.md", "Dead letters"],
  ["docs/security.md", "Kafka"],
])("%s says which refusals are for good, as the code has them", (page, heading) => {
  const [, list = ""] =
    /refuse\s+for\s+good\s+\(([^)]*)\)/.exec(section(readPage(page), heading)) ?? [];
  expect(list.match(/\w+/g)).toEqual(FINAL_ERRORS);
});
