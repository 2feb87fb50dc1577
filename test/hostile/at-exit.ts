const ends = new Set<() => void>();
let listening = false;

/**
 * Has this done though the program is interrupted.
 *
 * @returns call it when it was done otherwise.
 */
export function atExit(end: () => void): () => void {
  if (!listening) for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, endAll);
  listening = true;
  ends.add(end);
  return () => void ends.delete(end);
}

function endAll(): void {
  for (const end of ends) end();
  process.exit(1);
}
