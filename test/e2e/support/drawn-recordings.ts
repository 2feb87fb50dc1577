import { fromMilliseconds } from "../../../src/events/door.ts";
import type { ExpectedNode } from "../../bridge/spans/expected-tree.ts";
import { RECORDED_AS } from "../../support/golden.ts";
import { drawnTrees } from "./drawn-trees.ts";
import { FreshIds } from "./fresh-ids.ts";
import {
  goldenRecordings,
  type Recording,
  renamed,
  shiftedTo,
  shippedRecordings,
} from "./recording.ts";

/** `resume` was constructed, so it is drawn here: the run that goes on with `pause`. */
const RESUMED: ExpectedNode = {
  span: "invoke_agent supervised",
  run: "01a1fbfa-6d3c-7a41-9c5e-2f60c1d7b8a4",
  trace: "run",
  status: "unset",
  // The span of the paused run.
  links: ["b1ec8cec415f8c46"],
  attributes: {
    "entelix.run.resumed_from": "01a1fbfa-4a5c-71d6-b1ec-8cec415f8c46",
    "entelix.run.outcome": "complete",
    "gen_ai.conversation.id": "th-10",
  },
  children: [
    {
      span: "execute_tool wire_transfer",
      run: "01a1fbfa-6d3c-7a41-9c5e-2f60c1d7b8a4",
      status: "unset",
      attributes: {
        "gen_ai.tool.call.id": "tu-1",
        "entelix.approval.outcome": "approved",
        "entelix.tool.outcome": "complete",
      },
      children: [],
    },
  ],
};

/** From the begin of one recording to that of the next, in ms: they overlap. */
const STAGGER_MS = 30;

/** A recording with fresh run ids, and what was drawn for it. */
export interface DrawnRecording {
  readonly recording: Recording;
  readonly trees: readonly ExpectedNode[];
}

/** All that were recorded: the vectors of `test/golden`, and what is shipped in `recordings/`. */
export function drawnRecordings(): DrawnRecording[] {
  const golden = [
    ...goldenRecordings("entelix_lifecycles.jsonl"),
    ...goldenRecordings("entelix_lifecycles_older_0_5.jsonl"),
  ];
  return [
    ...drawn(golden, ({ name }) => name),
    ...drawn(shippedRecordings(), ({ name }) => {
      const recordedAs = RECORDED_AS[name];
      return recordedAs === undefined ? name : `entelix_lifecycles.jsonl#${recordedAs}`;
    }),
  ];
}

/** The recordings one after the other, from now on. */
export function fromNow(all: readonly DrawnRecording[]): Recording[] {
  const begin = Date.now() + 500;
  return all.map(({ recording }, index) =>
    shiftedTo(fromMilliseconds(begin + index * STAGGER_MS), recording),
  );
}

function drawn(
  recorded: readonly Recording[],
  nameOf: (recording: Recording) => string,
): DrawnRecording[] {
  const ids = new FreshIds(recorded);
  const trees = drawnTrees(ids.rename, { resume: [RESUMED] });
  return recorded.map((one) => {
    const roots = trees.get(nameOf(one));
    if (roots === undefined) throw new Error(`${one.name}: no tree was drawn`);
    return { recording: renamed(ids.rename, one), trees: roots };
  });
}
