/**
 * JSON as the content of a `<script type="application/json">`: it stays JSON of the same value, and no text in it
 * can end the element or begin a comment.
 */
export function jsonInHtml(json: string): string {
  return json.replace(/[<\u2028\u2029]/g, (unsafe) => {
    return `\\u${unsafe.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** A script as the content of a `<script>`. What is escaped stands in texts alone, and means the same there. */
export function scriptInHtml(script: string): string {
  return script.replaceAll(/<(?=\/script|!--)/gi, "\\x3c");
}
