import {
  type Context,
  context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  propagation,
  ROOT_CONTEXT,
} from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import {
  extract,
  extractedRunContext,
  inject,
  type RunContext,
  RunContextPropagator,
} from "../../../src/entries/context.ts";
import { withCurrentRun } from "./within-run.ts";

const RUN: RunContext = {
  traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  root_run_id: "018f3c7a-0000-7000-8000-000000000001",
  parent_run_id: "018f3c7a-0000-7000-8000-000000000002",
  parent_tool_use_id: "call 1",
};
const HEADERS = {
  traceparent: RUN.traceparent,
  "entelix-root-run-id": RUN.root_run_id,
  "entelix-parent-run-id": RUN.parent_run_id,
  "entelix-parent-tool-use-id": "call%201",
};
const VARIABLES = {
  TRACEPARENT: RUN.traceparent,
  ENTELIX_ROOT_RUN_ID: RUN.root_run_id,
  ENTELIX_PARENT_RUN_ID: RUN.parent_run_id,
  ENTELIX_PARENT_TOOL_USE_ID: "call%201",
};
const sink = { send: () => undefined };
const current = { tenantId: "acme", runId: "run-2", rootRunId: "run-1", toolUseId: "t-1", sink };
const inRun = <T>(work: () => T): T => withCurrentRun(current, work);

describe("inject and extract", () => {
  it("write headers unless told otherwise, into an object and into fetch's Headers", () => {
    expect(inject({ host: "a" }, { context: RUN })).toEqual({ host: "a", ...HEADERS });
    const headers = inject(new Headers({ host: "a" }), { context: RUN });
    expect(Object.fromEntries(headers)).toEqual({ host: "a", ...HEADERS });
    expect(extract(headers)).toEqual(RUN);
  });

  it("leave the trace of headers to an instrumentation", () => {
    const { traceparent: _, ...others } = HEADERS;
    expect(inject({}, { context: RUN, traceparent: false })).toEqual(others);
  });

  it("write variables, and remove those of the grandparent", () => {
    const env = { PATH: "/bin", ENTELIX_THREAD_ID: "old", ...VARIABLES };
    expect(inject({ ...env }, { context: RUN, format: "environment" })).toEqual({
      PATH: "/bin",
      ...VARIABLES,
    });
    expect(inject({ ...env }, { context: undefined, format: "environment" })).toEqual({
      PATH: "/bin",
    });
    expect(extract(VARIABLES, { format: "environment" })).toEqual(RUN);
  });

  it("write the fields of a message as they are", () => {
    expect(inject({ order: 17 }, { context: RUN, format: "message" })).toEqual({
      order: 17,
      ...RUN,
    });
    expect(extract({ order: 17, ...RUN }, { format: "message" })).toEqual(RUN);
  });

  it("carry the run that the code belongs to, and nothing outside any", () => {
    expect(inRun(() => inject({}, { format: "message" }))).toEqual({
      root_run_id: "run-1",
      parent_run_id: "run-2",
      parent_tool_use_id: "t-1",
    });
    expect(inject({})).toEqual({});
  });

  it("tell what was not used, by its name in the carrier", () => {
    const told: string[] = [];
    const headers = { ...HEADERS, traceparent: "nonsense" };
    const { traceparent: _, ...rest } = RUN;
    expect(extract(headers, { onIgnored: (...said) => told.push(said.join(" ")) })).toEqual(rest);
    expect(told).toEqual(["traceparent malformed"]);
  });

  it.each([null, undefined, 17, "text"])("take %s for a carrier without a run", (carrier) => {
    for (const format of ["headers", "environment", "message"]) {
      expect(Reflect.apply(extract, undefined, [carrier, { format }])).toBeUndefined();
    }
  });

  it("refuse a format that there is not", () => {
    const wrong = [{}, { context: RUN, format: "baggage" }];
    const message = "format: expected headers, environment or message, got baggage";
    expect(() => Reflect.apply(inject, undefined, wrong)).toThrow(new TypeError(message));
    expect(() => Reflect.apply(extract, undefined, wrong)).toThrow(new TypeError(message));
  });
});

describe("the propagator", () => {
  const propagator = new RunContextPropagator();

  it("writes the run beside the trace, and neither trace nor baggage", () => {
    const carrier = {};
    const from: Context = propagation.setBaggage(
      context.active(),
      propagation.createBaggage({ user: { value: "u-1" } }),
    );
    inRun(() => propagator.inject(from, carrier, defaultTextMapSetter));
    expect(carrier).toEqual({
      "entelix-root-run-id": "run-1",
      "entelix-parent-run-id": "run-2",
      "entelix-parent-tool-use-id": "t-1",
    });
    expect(Object.keys(carrier).every((name) => propagator.fields().includes(name))).toBe(true);
  });

  it("gives the run back from the context that it extracted into", () => {
    const into = propagator.extract(ROOT_CONTEXT, HEADERS, defaultTextMapGetter);
    expect(extractedRunContext(into)).toEqual(RUN);
    expect(extractedRunContext(ROOT_CONTEXT)).toBeUndefined();
    expect(propagator.extract(ROOT_CONTEXT, { baggage: "a=1" })).toBe(ROOT_CONTEXT);
  });
});
