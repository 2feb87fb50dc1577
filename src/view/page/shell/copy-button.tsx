import { useEffect, useState } from "preact/hooks";
import { announce } from "./live-region.tsx";

/** How long the button says that it copied, in ms. */
const SAID_MS = 2000;

export interface CopyButtonProps {
  /** What is copied: `Copy run ID`. */
  readonly label: string;
  /** The text, or how to get it. */
  readonly text: string | (() => string | Promise<string>);
}

/** Copies a text, and says whether that worked. */
export function CopyButton({ label, text }: CopyButtonProps) {
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => setSaid(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    const worked = await copied(text);
    const message = worked ? "Copied" : "Copying is not allowed here";
    setSaid(message);
    announce(message);
  };
  return (
    <button onClick={() => void copy()} type="button">
      {said ?? label}
    </button>
  );
}

async function copied(text: CopyButtonProps["text"]): Promise<boolean> {
  try {
    const value = typeof text === "string" ? text : await text();
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    // The clipboard is missing on a page that is not secure, or the user has not allowed it.
    return false;
  }
}
