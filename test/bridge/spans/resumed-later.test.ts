import { describe, expect, it } from "vitest";
import { Telemetry } from "../../../src/bridge/telemetry.ts";
import { RunEvents, second } from "../../support/run-events.ts";
import { collectSpans, toTrees } from "../../support/spans.ts";

const FIRST = "018f3c7a-0000-7000-8000-000000000001";
const NEXT = "018f3c7a-0000-7000-8000-000000000002";
const TRACE = FIRST.replaceAll("-", "");
const first = new RunEvents(FIRST);
const next = new RunEvents(NEXT);

function make() {
  const spans = collectSpans();
  const telemetry = new Telemetry({ tracerProvider: spans.provider, mode: "replay" });
  const at = (time: number, event: Parameters<Telemetry["take"]>[0]) =>
    telemetry.take(event, undefined, second(time));
  return { ...spans, telemetry, at };
}

describe("a resume that the runtime tells of after the run's start", () => {
  it("links the run and says whom it continues", () => {
    const test = make();
    test.at(0, first.started());
    test.at(1, first.interrupted());
    test.at(2, next.started());
    test.telemetry.linkResumed("acme", NEXT.toUpperCase(), FIRST.toUpperCase());
    test.telemetry.linkResumed("acme", NEXT, "another");
    test.at(3, next.complete());
    const [, span] = toTrees(test.spans());
    expect(span).toMatchObject({
      links: ["8000000000000001"],
      linkKinds: ["resumed_from"],
      attributes: { "entelix.run.resumed_from": FIRST },
    });
  });

  it("is nothing for a run that is not open, or that names itself", () => {
    const test = make();
    test.telemetry.linkResumed("acme", NEXT, FIRST);
    test.at(2, next.started());
    test.telemetry.linkResumed("globex", NEXT, FIRST);
    test.telemetry.linkResumed("acme", NEXT, NEXT);
    test.telemetry.linkResumed("acme", NEXT, undefined);
    test.at(3, next.complete());
    test.telemetry.linkResumed("acme", NEXT, FIRST);
    expect(toTrees(test.spans())).toMatchObject([{ links: [] }]);
  });
});

describe("the link to the run that a run continues", () => {
  it("is the same in a process that has seen that run, and in one that has not", () => {
    const linksOf = (isSeen: boolean) => {
      const test = make();
      if (isSeen) {
        test.at(0, first.started());
        test.at(1, first.interrupted());
      }
      const resumed = { resumed_from_run_id: FIRST };
      test.telemetry.take(next.started(), resumed, second(2));
      test.at(3, next.complete());
      return test
        .spans()
        .at(-1)
        ?.links.map(({ attributes, context }) => ({ attributes, context }));
    };
    const context = { traceId: TRACE, spanId: "8000000000000001", traceFlags: 1 };
    const attributes = { "entelix.link.kind": "resumed_from" };
    expect(linksOf(true)).toEqual([{ attributes, context }]);
    expect(linksOf(false)).toEqual([{ attributes, context }]);
  });
});
