// Plays the scenarios of the comparison with the runtime of this package: what every framework is compared with.
import { AgentError } from "entelix-otel";
import { isInterruption, runAgent } from "entelix-otel/runtime";
import { forever, raceFree } from "./adapters-scenes.mjs";
import { playSame, pressedStop } from "./same-scenarios.mjs";

/** An answer of the model, with what it used. */
const answers = (run, text, finishReasons, model = "small-1") =>
  run.model(model, async (call) => {
    call.report({ usage: { input_tokens: 10, output_tokens: 5 }, finishReasons });
    return text;
  });
const asks = (run) => answers(run, "");
const says = (run) => answers(run, "done");
const boom = () => {
  throw new RangeError("out of order");
};
const unavailable = () => {
  throw Object.assign(new Error("overloaded"), { status: 503 });
};
const look = (run, id, work = async () => "seen") => run.tool("look", { id }, work);

/** One call of a tool between two of the model. */
async function oneCall(run) {
  await asks(run);
  await look(run, "c1");
  return says(run);
}

async function pays(run, approve) {
  await run.tool("pay", { id: "c1", approve }, async () => "paid").catch(() => {});
  return says(run);
}

/** The run pauses for an approval, and goes on with what a person decided. */
async function decided(options, approve) {
  const paused = await runAgent(options, async (run) => {
    await asks(run);
    return pays(run, () => "external");
  }).catch((error) => error);
  if (!isInterruption(paused)) throw paused;
  const resumedFromRunId = options.runId;
  await runAgent({ ...options, runId: undefined, resumedFromRunId }, (run) => pays(run, approve));
}

const RUN_ID = "018f3c7a-0000-7000-8000-000000000001";
const approved = () => ({ approved: true, by: "user" });

/** The tool stops its run. */
const stopsIn =
  (reason) =>
  ({ options }) => {
    const controller = new AbortController();
    return runAgent({ ...options, signal: controller.signal }, async (run) => {
      await asks(run);
      return look(run, "c1", ({ signal }) => {
        setImmediate(() => controller.abort(reason));
        return forever(signal);
      });
    });
  };

const scenarios = {
  success: ({ options }) => runAgent(options, oneCall),
  "parallel tools": ({ options }) =>
    runAgent(options, async (run) => {
      const both = raceFree(2);
      await asks(run);
      await Promise.all([look(run, "c1", both), look(run, "c2", both)]);
      return says(run);
    }),
  "tool failure that the model reads": ({ options }) =>
    runAgent(options, async (run) => {
      await asks(run);
      await look(run, "c1", boom).catch(() => {});
      return says(run);
    }),
  "tool failure that ends the run": ({ options }) =>
    runAgent(options, async (run) => {
      await asks(run);
      return look(run, "c1", boom);
    }),
  "model failure after a retry": ({ options }) =>
    runAgent(options, (run) => run.model("small-1", unavailable)),
  "answer after a retry": ({ options }) => runAgent(options, says),
  "abort in a tool": stopsIn(),
  "stop with a reason": stopsIn(pressedStop()),
  "timeout in the model": ({ options }) =>
    runAgent({ ...options, deadlineMs: 20 }, (run) =>
      run.model("small-1", ({ signal }) => forever(signal)),
    ),
  "stream whose reader leaves": ({ options }) => {
    const controller = new AbortController();
    return runAgent({ ...options, signal: controller.signal }, (run) =>
      run.model("small-1", (call) => {
        call.firstOutput();
        setImmediate(() => controller.abort());
        return forever(call.signal);
      }),
    );
  },
  "answer cut by length": ({ options }) =>
    runAgent(options, (run) => answers(run, "do", ["length"])),
  refusal: ({ options }) => runAgent(options, (run) => answers(run, "no", ["refusal"])),
  fallback: ({ options }) =>
    runAgent(options, (run) =>
      run.model("small-1", unavailable).catch(() => answers(run, "done", ["stop"], "small-2")),
    ),
  "failure after an answer": ({ options }) =>
    runAgent(options, async (run) => {
      await asks(run);
      await look(run, "c1");
      return run.model("small-1", unavailable);
    }),
  "call that never ran": ({ options }) =>
    runAgent(options, async (run) => {
      await asks(run);
      const unknown = () => {
        throw AgentError.invalidRequest("there is no such tool");
      };
      await run.tool("none", { id: "c1" }, unknown).catch(() => {});
      return says(run);
    }),
  "calls inside a call": ({ options }) =>
    runAgent(options, async (run) => {
      await asks(run);
      await look(run, "c1", async () => {
        await look(run, "c2");
        await says(run);
      });
      return says(run);
    }),
  "one ID twice": ({ options }) =>
    runAgent(options, async (run) => {
      await asks(run);
      await Promise.all([look(run, "c1"), look(run, "c1", boom).catch(() => {})]);
      return says(run);
    }),
  "agent in a tool": ({ options }) =>
    runAgent(options, async (run) => {
      await asks(run);
      await look(run, "c1", () => runAgent({ agent: "expert" }, oneCall));
      return says(run);
    }),
  "pause, approved": ({ options }) => decided({ ...options, runId: RUN_ID }, approved),
  "pause, denied": ({ options }) =>
    decided({ ...options, runId: RUN_ID }, () => ({
      approved: false,
      by: "user",
      reason: "not today",
    })),
  "pause, approved in another process": async ({ options }, open) => {
    const other = await open();
    await decided({ ...options, ...other.options, runId: RUN_ID }, approved);
  },
  // The application names the user of each run of the runtime.
  "resumption of a user's run": ({ options }) =>
    decided({ ...options, runId: RUN_ID, user: "u1" }, approved),
  "two tenants at once": async ({ options }) => {
    const both = raceFree(2);
    await Promise.all(
      ["acme", "globex"].map((tenant) =>
        runAgent({ ...options, tenant }, async (run) => {
          await asks(run);
          await look(run, "c1", both);
          return says(run);
        }),
      ),
    );
  },
};

await playSame({
  scenarios,
  begin: (sink, onError) => ({
    options: { sink, agent: "support", tenant: "acme", threadId: "t1", onError },
    flush: async () => {},
  }),
});
