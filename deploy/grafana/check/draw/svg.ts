import { INK } from "./colors.ts";

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
