// The command's way from bytes to spans, without files, network and audit: lines, exact parse, checks,
// order, mapping, bridge, the replay's provider. The spans are counted and thrown away.

import { createReplayProvider, serviceResource } from "../../src/bridge/door.ts";
import { readEvents } from "../../src/entries/replay.ts";
import { Bridge } from "../../src/index.ts";
import { RUNTIMES } from "../../src/replay/door.ts";

/** One replay that is fed piece by piece, so that the clock can be stopped between pieces. */
export class Replay {
  spans = 0;
  #pieces = [];
  #wake = () => {};
  #asked = () => {};
  #done;
  #bridge;

  /** @param tracerProvider that of the command, which counts the spans, by default. */
  constructor(dialectName, tracerProvider = this.#counting()) {
    const { dialect, player } = RUNTIMES.find((one) => one.dialect.name === dialectName);
    this.#bridge = new Bridge({
      mode: "replay",
      tracerProvider,
      captureContent: false,
      onError: (error, place) => {
        throw new Error(place, { cause: error });
      },
    });
    const playing = player(this.#bridge, "default");
    this.#done = readEvents(this.#source(), {
      dialects: [dialect],
      onEvent: ({ event, envelope }) => playing.take(event, envelope),
      onIssue: ({ line, field, expected }) => {
        throw new Error(`line ${line}: ${field}: expected ${expected}`);
      },
    }).then(async (report) => {
      await playing.end();
      await this.#bridge.shutdown();
      return report;
    });
  }

  /** Resolves when all of the piece is taken but what the reorder buffer holds back. */
  take(piece) {
    this.#pieces.push(piece);
    this.#wake();
    const asked = new Promise((resolve) => {
      this.#asked = resolve;
    });
    return Promise.race([asked, this.#done]);
  }

  /** Ends the source. */
  async end() {
    this.#pieces.push(undefined);
    this.#wake();
    const report = await this.#done;
    return { report, spans: this.spans, diagnostics: this.#bridge.diagnostics() };
  }

  #counting() {
    const onEnd = () => {
      this.spans += 1;
    };
    return createReplayProvider(serviceResource("bench").resource, { onEnd });
  }

  async *#source() {
    for (;;) {
      while (this.#pieces.length === 0) {
        this.#asked();
        await new Promise((resolve) => {
          this.#wake = resolve;
        });
      }
      const piece = this.#pieces.shift();
      if (piece === undefined) return;
      yield piece;
    }
  }
}
