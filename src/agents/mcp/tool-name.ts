/**
 * Whether an open tool call of a framework is the call of an MCP tool: it has the tool's name, with or
 * without the server's before it (`weather__forecast`, `mcp_weather_forecast`). Frameworks replace
 * characters that model APIs do not take.
 *
 * @param open name of the open call, where its adapter says it.
 */
export function isSameTool(open: string | undefined, tool: string): boolean {
  if (open === undefined || tool === "") return false;
  const name = plain(tool);
  const around = plain(open);
  return around === name || around.endsWith(`_${name}`);
}

function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, "_");
}
