import { describe, expect, it } from "vitest";
import { Telemetry } from "../../src/otel/telemetry.ts";
import { RunEvents, second } from "../support/run-events.ts";
import { collectSpans, toTrees } from "../support/spans.ts";

const FIRST = "018f3c7a-0000-7000-8000-000000000001";
const NEXT = "018f3c7a-0000-7000-8000-000000000002";
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
