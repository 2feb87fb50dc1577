import { listProperty, property, textProperty } from "./thrown-property.ts";

const MAX_DETAILS = 32;
/** A longer text is an answer's content rather than an error. */
const MAX_TEXT_CHARS = 65_536;
const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";
const DURATION = /^(\d{1,10}(?:\.\d{1,9})?)s$/;

/**
 * How long Google's APIs ask to wait, in milliseconds: they say it in the body, as a
 * `google.rpc.RetryInfo` among the details of the status, and not in a header.
 *
 * The details are the error's own (`@google/generative-ai`), or in a body that was read (`data`: the
 * AI SDK, gaxios), or in the text of one (`@google/genai` has it for a message).
 *
 * @param response the answer that the error holds, if it holds one.
 */
export function rpcRetryMs(thrown: unknown, response: unknown): number | undefined {
  const wait =
    retryMsIn(listProperty(thrown, "errorDetails", MAX_DETAILS)) ??
    retryMsOfBody(property(thrown, "data")) ??
    retryMsOfBody(property(response, "data"));
  return wait ?? retryMsOfText(thrown, "responseBody") ?? retryMsOfText(thrown, "message");
}

function retryMsOfText(thrown: unknown, key: string): number | undefined {
  const text = textProperty(thrown, key) ?? "";
  if (text.length > MAX_TEXT_CHARS || !text.includes(RETRY_INFO)) return undefined;
  try {
    return retryMsOfBody(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function retryMsOfBody(body: unknown): number | undefined {
  return retryMsIn(listProperty(property(body, "error"), "details", MAX_DETAILS));
}

/** As of a header, no time at all is no hint. */
function retryMsIn(details: readonly unknown[]): number | undefined {
  const info = details.find((detail) => property(detail, "@type") === RETRY_INFO);
  const [, seconds = ""] = DURATION.exec(textProperty(info, "retryDelay") ?? "") ?? [];
  const ms = Number(seconds) * 1000;
  return ms > 0 ? ms : undefined;
}
