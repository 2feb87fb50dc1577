import { CLI_COMMANDS, type ListedCommand } from "./cli/door.ts";
import { VIEW_COMMANDS } from "./view/door.ts";

/** Every command, in the order of the help. */
export const COMMANDS: readonly ListedCommand[] = [...VIEW_COMMANDS, ...CLI_COMMANDS];
