import { readEvents } from "../../src/entries/replay.ts";
import { Bridge, type BridgeOptions } from "../../src/index.ts";
import type { AnyRuntime } from "../../src/replay/door.ts";

/** Replays the text of a recording of one runtime with content, into spans of this provider. */
export async function playText(
  { dialect, player }: AnyRuntime,
  text: string,
  tracerProvider: BridgeOptions["tracerProvider"],
): Promise<void> {
  const bridge = new Bridge({ mode: "replay", tracerProvider, captureContent: true });
  const playing = player(bridge, "default");
  await readEvents(source(text), {
    dialects: [dialect],
    onEvent: ({ event, envelope }) => void playing.take(event, envelope),
  });
  await playing.end();
  await bridge.shutdown();
}

async function* source(text: string): AsyncGenerator<string> {
  yield text;
}
