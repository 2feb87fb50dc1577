import { conversationOf } from "../../../src/view/model/conversation.ts";
import { errorOf } from "../../../src/view/model/failures.ts";
import { runGraph } from "../../../src/view/model/run-graph.ts";
import { runModel } from "../../../src/view/model/run-model.ts";
import { viewSpanIn } from "../../../src/view/sources/view-span.ts";
import { runDetail } from "./view-span.ts";

type RawSpan = Parameters<typeof viewSpanIn>[0];

/** Reads a span in OTLP/JSON, and makes of it all that the page shows of a run with this span alone. */
export function shownSpan(raw: RawSpan) {
  const span = viewSpanIn(raw, () => {});
  if (span === undefined) return undefined;
  const model = runModel(runDetail([span]));
  return [model, runGraph(model.tree), errorOf(span), conversationOf(span)];
}
