import { useEffect, useState } from "preact/hooks";

const KEY = "entelix-otel.raw-text";

const listeners = new Set<(raw: boolean) => void>();
let chosen = stored();

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
  store(raw);
  for (const listener of listeners) listener(raw);
}

// A page from a file may have no storage, and users can forbid it.
function stored(): boolean {
  try {
    return localStorage.getItem(KEY) === "true";
  } catch {
    return false;
  }
}

function store(raw: boolean): void {
  try {
    localStorage.setItem(KEY, String(raw));
  } catch {
    // The choice holds until the page is closed.
  }
}
