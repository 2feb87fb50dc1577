import { describe, expect, it } from "vitest";
import { writeEnvironment } from "../../../src/events/context/environment.ts";
import { writeHeaders } from "../../../src/events/context/http-headers.ts";
import { MOST_ID_BYTES } from "../../../src/events/context/run-context.ts";
import { readPage, section, tableRows } from "../../docs/pages.ts";

describe("docs/context.md", () => {
  const page = readPage("docs/context.md");

  it("has every field, with its header and its variable", () => {
    const carried = {
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      tracestate: "vendor=1",
      root_run_id: "r1",
      parent_run_id: "r1",
      parent_tool_use_id: "call_1",
      thread_id: "th-1",
    };
    const rows = tableRows(section(page, "Sending the context"));
    expect(rows.map(([field]) => field)).toEqual(Object.keys(carried));
    expect(rows.map(([, header]) => header)).toEqual(Object.keys(writeHeaders(carried)));
    expect(rows.map(([, , variable]) => variable)).toEqual(Object.keys(writeEnvironment(carried)));
  });

  it("has the bound of an id", () => {
    expect(page).toContain(`an ID of more than ${MOST_ID_BYTES} bytes`);
  });
});
