import { claudeAgent } from "../../../../src/entries/claude-agent.ts";
import {
  apiError,
  failed,
  result,
  says,
  scripted,
  text,
  uses,
} from "../../claude-agent/scripted-sdk.ts";
import { codeOf, type Driver, INPUT, settled, WHOLE } from "../driver.ts";

export const claude: Driver = {
  name: "Claude Agent",
  has: { ...WHOLE, usage: false },
  async play(options, scene) {
    const agent = claudeAgent(options);
    const { query } = scripted(async (sdk) => {
      await sdk.prompt("question-mark");
      sdk.send(says("m1", uses("c1", "add", INPUT)));
      await sdk.before("c1", "add", INPUT);
      const { given, thrown } = await settled(Promise.resolve().then(codeOf(scene)));
      if (thrown === undefined) await sdk.after("c1", "add", String(given));
      else {
        const error = thrown instanceof Error ? thrown.message : String(thrown);
        const named = { tool_use_id: "c1", tool_name: "add", tool_input: INPUT };
        await sdk.hook("PostToolUseFailure", { ...named, error });
        sdk.send(failed("c1", error));
      }
      if (scene.modelThrows === undefined) {
        sdk.send(says("m2", text("answer-mark")), result("answer-mark"));
        return;
      }
      const said = scene.modelThrows.message;
      const ending = { is_error: true, api_error_status: 529, terminal_reason: "api_error" };
      sdk.send(apiError("overloaded", said), result(said, ending));
    });
    let answer: string | undefined;
    const { thrown } = await settled(
      (async () => {
        for await (const message of agent.query(query, { prompt: "question-mark" })) {
          if (message.type === "result" && message.is_error !== true) answer = "answer-mark";
        }
      })(),
    );
    await agent.flush();
    const { faults, refused, sinkFailures } = agent.counts;
    return { answer, thrown, counts: { refused, sinkFailures, faults } };
  },
};
