import type { ComponentChildren } from "preact";
import { Text } from "./text.tsx";

export interface ErrorNoteProps {
  /** What does not work: `The run can't be shown.` */
  readonly title: string;
  /** Why, in the words of the server or the source. */
  readonly reason?: string | undefined;
  /** What to do, and buttons. */
  readonly children?: ComponentChildren;
}

/** An error where the thing that failed would be. Screen readers read it at once. */
export function ErrorNote({ children, reason, title }: ErrorNoteProps) {
  return (
    <div class="note bad" role="alert">
      <p>
        <strong>{title}</strong>
      </p>
      {reason !== undefined && (
        <p>
          <Text lines value={reason} />
        </p>
      )}
      {children}
    </div>
  );
}
