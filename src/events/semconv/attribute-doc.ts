/** A row of the attribute table. */
export interface AttributeDoc {
  /** The spans that have it. */
  readonly on: string;
  readonly type: "string" | "string[]" | "int" | "double" | "boolean";
  /** Set only where content capture is on. */
  readonly content: boolean;
  readonly brief: string;
}

/** @param where the kinds of spans that have it. */
export function on<T extends AttributeDoc["type"]>(where: string, type: T, brief: string) {
  return { on: where, type, content: false, brief } as const;
}

/** The same, set only where content capture is on. */
export function content(where: string, brief: string) {
  return { on: where, type: "string", content: true, brief } as const;
}
