import { useEffect, useState } from "preact/hooks";
import { readStored, store } from "./stored.ts";

const RAW_TEXT = "raw-text";

const listeners = new Set<(raw: boolean) => void>();
let chosen = readStored(RAW_TEXT) === "true";

/** Whether Markdown is shown as it was written. All texts of the page change together. */
export function useRawText(): boolean {
  const [raw, setRaw] = useState(chosen);
  useEffect(() => {
    listeners.add(setRaw);
    setRaw(chosen);
    return () => {
      listeners.delete(setRaw);
    };
  }, []);
  return raw;
}

/** Markdown, or the text as it was written. The choice stays in this browser. */
export function RawTextSwitch() {
  const raw = useRawText();
  return (
    <label class="row no-print">
      <input
        checked={raw}
        onChange={({ currentTarget }) => choose(currentTarget.checked)}
        type="checkbox"
      />
      Raw text
    </label>
  );
}

function choose(raw: boolean): void {
  chosen = raw;
  store(RAW_TEXT, String(raw));
  for (const listener of listeners) listener(raw);
}
