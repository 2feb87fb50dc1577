import { useMemo } from "preact/hooks";
import { exchangeOf, hasTexts } from "../../../model/exchange.ts";
import type { RunModel } from "../../../model/run-model.ts";
import { RawTextSwitch } from "../../shell/raw-text.tsx";
import { Items } from "./items.tsx";
import { ContinuedBy, Continues } from "./other-runs.tsx";

const PRIVACY = "https://github.com/entelix/entelix-otel/blob/main/docs/privacy.md";

export interface ExchangeProps {
  readonly model: RunModel;
  readonly query: URLSearchParams;
}

/** The conversation of the run: messages, tool calls, decisions, waits and errors, in order. */
export function ExchangeView({ model, query }: ExchangeProps) {
  const exchange = useMemo(() => exchangeOf(model), [model]);
  const withTexts = useMemo(() => hasTexts(model), [model]);
  return (
    <section aria-label="Conversation of the run" class="talk">
      <h2 class="visually-hidden">Conversation</h2>
      {withTexts ? (
        <div class="talk-tools row no-print">
          <RawTextSwitch />
        </div>
      ) : (
        <NoContent captured={model.detail.content} />
      )}
      <Continues exchange={exchange} model={model} />
      <Items exchange={exchange} model={model} query={query} />
      <ContinuedBy model={model} />
    </section>
  );
}

function NoContent({ captured }: { readonly captured: boolean }) {
  return (
    <p class="note plain">
      {captured
        ? "The texts of messages and tools are missing, because the program did not capture content: "
        : "The texts of messages and tools were left out: "}
      <a href={PRIVACY} rel="noopener noreferrer" target="_blank">
        {captured ? "turn it on with captureContent" : "how to include them"}
      </a>
      {captured && (
        <>
          , or without code (<code>entelix-otel/register</code>) with{" "}
          <code>OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true</code>
        </>
      )}
      .
    </p>
  );
}
