// The door of `view`: runs on a page. See ROOM.md.

export { demo } from "./commands/demo.ts";
export { report } from "./commands/report.ts";
export { view } from "./commands/view.ts";
