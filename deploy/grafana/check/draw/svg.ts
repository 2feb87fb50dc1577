export interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export type Attributes = Readonly<Record<string, string | number>>;

/** An element with attributes; `content` is SVG already. */
export function element(name: string, attributes: Attributes, content = ""): string {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${typeof value === "number" ? round(value) : escaped(value)}"`,
  );
  return content === ""
    ? `<${name}${written.join("")}/>`
    : `<${name}${written.join("")}>${content}</${name}>`;
}

export function rect({ h, w, x, y }: Box, fill: string, more: Attributes = {}): string {
  return element("rect", { x, y, width: Math.max(0, w), height: Math.max(0, h), fill, ...more });
}

/** Text whose base line begins at (x, y); cut to `width` pixels. */
export function label(
  text: string,
  x: number,
  y: number,
  { size = 12, width = Number.POSITIVE_INFINITY, ...more }: LabelOptions = {},
): string {
  return element(
    "text",
    { x, y, "font-size": size, fill: INK, ...more },
    escaped(cut(text, size, width)),
  );
}

export interface LabelOptions {
  readonly size?: number;
  readonly width?: number;
  readonly fill?: string;
  readonly "text-anchor"?: "start" | "middle" | "end";
  readonly "font-weight"?: number;
}

/** About how wide a text is drawn. */
export function textWidth(text: string, size: number): number {
  return text.length * size * 0.56;
}

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

function cut(text: string, size: number, width: number): string {
  if (textWidth(text, size) <= width) return text;
  return `${text.slice(0, Math.max(1, Math.floor(width / (size * 0.56)) - 1))}…`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
