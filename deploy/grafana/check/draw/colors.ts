export const INK = "#ccccdc";
export const FAINT = "#8e8e9b";
export const GRID = "#2c3035";
export const PANEL = "#181b1f";
export const GROUND = "#111217";

/** Grafana's names of colours, as on its dark ground. */
const COLORS: Readonly<Record<string, string>> = {
  text: INK,
  green: "#73bf69",
  red: "#f2495c",
  "dark-red": "#c4162a",
  orange: "#ff9830",
  "dark-orange": "#fa6400",
  yellow: "#fade2a",
  blue: "#5794f2",
  "light-blue": "#8ab8ff",
  purple: "#b877d9",
};

/** For series that have no colour of their own. */
const PALETTE = [
  "#73bf69",
  "#f2cc0c",
  "#8ab8ff",
  "#ff780a",
  "#f2495c",
  "#5794f2",
  "#b877d9",
  "#37872d",
];

/** @throws RangeError for a name that is neither known nor `#rrggbb` */
export function colorOf(name: string): string {
  const found = name.startsWith("#") ? name : COLORS[name];
  if (found === undefined) throw new RangeError(`${name}: no such colour`);
  return found;
}

export function paletteColor(at: number): string {
  return PALETTE[at % PALETTE.length] ?? INK;
}
