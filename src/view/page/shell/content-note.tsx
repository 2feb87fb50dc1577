const CONTENT = "messages, inputs and outputs of tools, payloads of audit rows";

export interface ContentNoteProps {
  readonly content: boolean;
  readonly isReport: boolean;
}

/** Whether there is content: a reader must not search for it, and a sender of a report must know. */
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
