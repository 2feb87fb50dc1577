// The door of what writes figures and texts for people: it runs in browsers, too.

export { count, counted, highest, percent } from "./count.ts";
export { durationText } from "./duration.ts";
export { cut, safe, safeLines, UNSAFE } from "./text.ts";
