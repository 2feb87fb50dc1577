// The door of `view`: runs on a page. See ROOM.md.

export { VIEW_COMMANDS } from "./commands/commands.ts";
