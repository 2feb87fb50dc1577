import { expect, it } from "vitest";
import { RunEvents } from "../../support/run-events.ts";
import { meteredBench } from "./meter.ts";

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000001");
const loops = { repeat: 0, pingPong: 0, poll: 4 };

it("counts a loop once that the start of another call completes, beside a call that stays open", async () => {
  const bench = meteredBench({ loops });
  let at = 0;
  const tell = (...events: Parameters<typeof bench.identified>[1][]) => {
    for (const event of events) bench.identified(at++, event);
  };
  const poll = (id: string) =>
    tell(run.toolStart(id, "status", { job: 7 }), run.toolComplete(id, "status", 1, "running"));
  const looping = async () => (await bench.collect()).sum("entelix.runs.looping");
  tell(run.started());
  for (const id of ["p1", "p2", "p3", "p4"]) poll(id);
  tell(run.toolStart("long", "export", {}));
  poll("p5");
  poll("p6");
  expect(await looping()).toBe(0);
  // The third call behind the open one: that is waited for no longer, and the polls before this call count.
  tell(run.toolStart("w1", "write", {}));
  expect(await looping()).toBe(1);
  tell(run.toolComplete("w1", "write"));
  poll("p7");
  expect(await looping()).toBe(1);
});
