import { AiSdkTelemetry } from "../../../../src/entries/ai-sdk.ts";
import { asks, FakeCall, text } from "../../ai-sdk/fake-sdk.ts";
import { FakeCall6 } from "../../ai-sdk/fake-sdk-6.ts";
import { codeOf, type Driver, INPUT, settled, WHOLE } from "../driver.ts";

const ADD = asks("add", "c1", INPUT);
const ANSWER = [text("answer-mark")];

export const aiSdk7: Driver = {
  name: "AI SDK 7",
  has: WHOLE,
  async play(options, scene) {
    const telemetry = new AiSdkTelemetry(options);
    const call = new FakeCall(telemetry);
    await call.start();
    await call.model({});
    call.answers([ADD]);
    await call.tool(ADD, codeOf(scene));
    call.step([ADD]);
    if (scene.modelThrows === undefined) await call.finish(ANSWER);
    else {
      await call.model(scene.modelThrows);
      call.fails(scene.modelThrows);
    }
    await telemetry.flush();
    const answer = scene.modelThrows === undefined ? "answer-mark" : undefined;
    return { answer, thrown: scene.modelThrows, counts: telemetry.counts };
  },
};

export const aiSdk6: Driver = {
  name: "AI SDK 6",
  has: WHOLE,
  async play(options, scene) {
    const telemetry = new AiSdkTelemetry(options);
    const { given, thrown } = await settled(
      new FakeCall6(telemetry.tracer).generate(async (call) => {
        await call.model([ADD]);
        await call.tool(ADD, codeOf(scene));
        await call.model(scene.modelThrows ?? ANSWER);
      }),
    );
    await telemetry.flush();
    const answer = given === undefined ? undefined : "answer-mark";
    return { answer, thrown, counts: telemetry.counts };
  },
};
