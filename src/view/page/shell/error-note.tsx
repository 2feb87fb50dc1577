import type { ComponentChildren } from "preact";
import { Text } from "./text.tsx";

export interface ErrorNoteProps {
  /** The failed action, such as `The run can't be shown.` */
  readonly title: string;
  /** The reason, as the server or the source gave it. */
  readonly reason?: string | undefined;
  /** Next steps, and buttons. */
  readonly children?: ComponentChildren;
}

/** An error in place of the part that failed. Screen readers read it at once. */
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
