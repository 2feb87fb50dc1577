const CONTENT = "messages, inputs and outputs of tools, payloads of audit rows";

export interface ContentNoteProps {
  readonly content: boolean;
  readonly isReport: boolean;
}

/** Says whether there is content, for readers who look for it and senders of reports. */
export function ContentNote({ content, isReport }: ContentNoteProps) {
  if (content)
    return isReport ? <p class="note plain">The report has content: {CONTENT}.</p> : null;
  return (
    <p class="note plain">
      Content was left out: {CONTENT}.
      {isReport && " The report was written without --capture-content."}
    </p>
  );
}
