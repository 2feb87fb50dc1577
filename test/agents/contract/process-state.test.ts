import { describe, expect, it } from "vitest";
import { keepingSink } from "../../support/told.ts";
import { DRIVERS } from "./drivers/all.ts";

/**
 * The storages that Node 20 copies into each promise of the process: one that is made for an instance stays for ever,
 * and makes every promise larger. Newer versions of Node copy nothing, and have 0.
 */
const storages = () => Object.getOwnPropertySymbols(Promise.resolve()).length;

describe.each(DRIVERS.map((driver) => [driver.name, driver] as const))("%s", (_, driver) => {
  it("leaves nothing of an instance in the promises of the process", async () => {
    const play = () => driver.play({ sink: keepingSink("all").sink, tenant: "acme" }, {});
    await play();
    const before = storages();
    for (let n = 0; n < 3; n++) await play();
    expect(storages()).toBe(before);
  });
});
