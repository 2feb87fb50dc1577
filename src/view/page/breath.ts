/** Longest work without a pause, in ms: a key or a click is answered within it. */
const AT_ONCE_MS = 30;

/** @returns a function that pauses if the page has worked for long, so that it can draw and react. */
export function breath(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < AT_ONCE_MS) return;
    // A hidden page draws nothing, and its timers are slow.
    if (document.visibilityState === "visible") await pause();
    since = performance.now();
  };
}

/** Lets the page draw and react. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
