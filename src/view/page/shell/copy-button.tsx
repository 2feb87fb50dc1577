import { useEffect, useState } from "preact/hooks";
import { announce } from "./live-region.tsx";

/** How long the button shows the result, in ms. */
const RESULT_MS = 2000;

export interface CopyButtonProps {
  /** Label, such as `Copy run ID`. */
  readonly label: string;
  /** The text, or a function that returns it. */
  readonly text: string | (() => string | Promise<string>);
}

/** Copies a text, and shows whether that worked. */
export function CopyButton({ label, text }: CopyButtonProps) {
  const [result, setResult] = useState<string>();
  useEffect(() => {
    if (result === undefined) return;
    const timer = setTimeout(() => setResult(undefined), RESULT_MS);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = async () => {
    const worked = await copied(text);
    const message = worked ? "Copied" : "Copying is not allowed here";
    setResult(message);
    announce(message);
  };
  return (
    <button onClick={() => void copy()} type="button">
      {result ?? label}
    </button>
  );
}

async function copied(text: CopyButtonProps["text"]): Promise<boolean> {
  try {
    const value = typeof text === "string" ? text : await text();
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    // Pages that are not secure have no clipboard, and users can forbid it.
    return false;
  }
}
