import type { SpanError } from "../../model/failures.ts";
import { Text } from "../shell/text.tsx";

/** The operator's text, and the text for the model: what it received, if that was captured. */
export function SpanErrorView({ error }: { readonly error: SpanError }) {
  const { exceptions, message, modelText, modelTextUnknown, received, type } = error;
  const forModel = received ?? modelText;
  return (
    <div class="errors">
      {(message !== undefined || type !== undefined || exceptions.length > 0) && (
        <div class="note bad">
          <h3>Error, for the operator</h3>
          {message !== undefined && (
            <p>
              <Text limit={2000} lines value={message} />
            </p>
          )}
          {message === undefined && exceptions.length === 0 && (
            <p>The source has no text for the operator. Audit rows never have it.</p>
          )}
          {type !== undefined && (
            <p>
              Type: <Text value={type} />
            </p>
          )}
          {exceptions.map((exception, at) => (
            <div key={`${at} ${exception.type}`}>
              {exception.message !== message && (
                <p>
                  Exception <Text value={exception.type ?? "without a type"} />
                  {exception.message !== undefined && (
                    <>
                      : <Text limit={2000} lines value={exception.message} />
                    </>
                  )}
                </p>
              )}
              {exception.stack !== undefined && (
                <details>
                  <summary>Stack</summary>
                  <pre>
                    <Text limit={5000} lines value={exception.stack} />
                  </pre>
                </details>
              )}
            </div>
          ))}
        </div>
      )}
      {forModel !== undefined && (
        <div class="note plain">
          <h3>{received === undefined ? "Error, for the model" : "What the model received"}</h3>
          <p>
            <Text limit={2000} lines value={forModel} />
          </p>
        </div>
      )}
      {modelTextUnknown && <p class="muted">It is not known what the model received.</p>}
    </div>
  );
}
