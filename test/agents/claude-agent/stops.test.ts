import { expect, it } from "vitest";
import { setUnclassifiedWarning } from "../../../src/index.ts";
import { STOP_REASONS } from "../../support/stops.ts";
import { observe, play } from "./observed.ts";
import { failed, REQUESTING, type ScriptedProcess, says, uses } from "./scripted-sdk.ts";

// The process of the SDK gets no reason: it ends with an error of its own.

setUnclassifiedWarning(() => {});

const forever = () => new Promise<void>(() => {});

const PLACES: Readonly<Record<string, (sdk: ScriptedProcess) => void | Promise<void>>> = {
  "before the first call": () => {},
  "in a model call": (sdk) => sdk.send(REQUESTING),
  "in a tool": async (sdk) => {
    sdk.send(says("m1", uses("t1", "Bash")));
    await sdk.before("t1", "Bash", {});
  },
  "in a tool that fails by it": async (sdk) => {
    sdk.send(says("m1", uses("t1", "Bash")));
    await sdk.before("t1", "Bash", {});
    sdk.params.options?.abortController?.signal.addEventListener("abort", () => {
      sdk.send(failed("t1", "The tool call was interrupted"));
    });
  },
  "in a sub-agent": async (sdk) => {
    sdk.send(says("m1", uses("t1", "Agent")));
    await sdk.before("t1", "Agent", {});
    sdk.send(says("m2", uses("t2", "Bash"), { parent_tool_use_id: "t1" }));
  },
};

const cases = Object.entries(PLACES).flatMap(([place, go]) =>
  STOP_REASONS.map(([name, reason]) => ({ place, name, go, reason })),
);

it.each(cases)("a stop $place, with $name, is cancelled, and no failure", async (of) => {
  const seen = observe();
  const abortController = new AbortController();
  const script = async (sdk: ScriptedProcess) => {
    await sdk.prompt("hi");
    await of.go(sdk);
    await sdk.settle();
    abortController.abort(of.reason);
    await forever();
  };
  await play(seen, script, { options: { abortController } });
  const kinds = [...seen.of("failed"), ...seen.of("model_error")].map(
    ({ event }) => event.kind?.type,
  );
  expect(kinds.length).toBeGreaterThan(0);
  expect(new Set(kinds)).toEqual(new Set(["cancelled"]));
  for (const { event } of seen.of("tool_error")) expect(event.envelope.cancelled).toBe(true);
  expect(seen.lines().at(-1)).toBe("failed cancelled: operation cancelled");
});
