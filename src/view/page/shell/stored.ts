const PREFIX = "entelix-otel.";

/** A choice of the user that is kept in this browser; `null` if there is none. */
export function readStored(name: string): string | null {
  // A page from a file may have no storage, and users can forbid it.
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

export function store(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // The choice holds until the page is closed.
  }
}
