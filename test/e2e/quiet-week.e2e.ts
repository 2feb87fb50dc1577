import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ALERTS } from "../deploy/alert-files.ts";
import { installedProgram } from "./support/installed-program.ts";
import { inForm } from "./support/long-form.ts";
import { runRules } from "./week/promtool-test.ts";
import { ruleSets } from "./week/rule-sets.ts";
import { beginSimulatedTime, endSimulatedTime } from "./week/simulated-time.ts";
import { Week } from "./week/week.ts";

vi.mock("../../src/events/clock.ts", () => import("../support/date-clock.ts"));

const HOUR = 60;
const DAY = 24 * HOUR;
const WEEK = inForm({ short: 2, long: 7 }) * DAY;
const SEED = 7;
const RULE_SETS = ruleSets();
/** promtool and what makes its series need minutes, beside other work more. */
const LONG = 30 * 60_000;

let folder: string;
let promtool: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-week-"));
  promtool = await installedProgram("promtool");
});
afterAll(() => rm(folder, { recursive: true }));

async function generated(minutes: number, happens?: Parameters<Week["pass"]>[0]): Promise<Week> {
  beginSimulatedTime();
  try {
    const queries = RULE_SETS.flatMap((rules) => rules.queries);
    const week = new Week(SEED, minutes, queries);
    await week.pass(happens);
    return week;
  } finally {
    endSimulatedTime();
  }
}

it("the sets of rules are all of the folder", () => {
  const inSets = RULE_SETS.flatMap(({ alerts }) => alerts);
  expect(inSets.toSorted()).toEqual(ALERTS.map(({ alert }) => alert).toSorted());
});

describe("a week in which nothing is wrong, behind one of history", () => {
  let week: Week;

  beforeAll(async () => {
    week = await generated(2 * WEEK);
  }, LONG);

  it("is one for the bridges, too", () => {
    expect(week.problems).toEqual([]);
  });

  it.each(RULE_SETS)(
    "raises nothing of the set $name but what reports a failed run or a long wait",
    async (rules) => {
      const history = Math.ceil(rules.lookback / DAY) * DAY;
      const from = Math.max(0, WEEK - history);
      const ended = await runRules({ promtool, folder, rules, week, from, judged: WEEK });
      expect(ended, ended.said).toMatchObject({ status: 0 });
    },
    LONG,
  );
});

describe("a day with an outage of one tenant's model", () => {
  it(
    "raises the alert for that, and no other",
    async () => {
      const week = await generated(12 * HOUR, (minute, { acme }) => {
        if (minute >= 10.5 * HOUR && minute < 10.5 * HOUR + 8) acme("model");
      });
      const rules = RULE_SETS.find(({ alerts }) => alerts.includes("EntelixModelDown"));
      if (rules === undefined) throw new Error("expected a set with EntelixModelDown");
      const ended = await runRules({
        ...{ promtool, folder, rules, week, from: 0, judged: 4 * HOUR },
        expected: [
          '{alertname="EntelixModelDown",entelix_tenant_id="acme",job="support",severity="page"}',
        ],
      });
      expect(ended, ended.said).toMatchObject({ status: 0 });
    },
    LONG,
  );
});
