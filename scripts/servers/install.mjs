// node scripts/servers/install.mjs [name...]: builds or installs what is missing (all, when no name is given), and
// prints a line for each: name, version, path. What it does meanwhile goes to standard error.
import { SERVERS } from "./catalog.mjs";

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SERVERS);
const strange = names.filter((name) => !Object.hasOwn(SERVERS, name));
if (strange.length > 0) {
  console.error(
    `No server named ${strange.join(", ")}; there are ${Object.keys(SERVERS).join(", ")}`,
  );
  process.exit(2);
}
// One after the other: two Go builds at once take longer than both in turn.
for (const name of names) {
  try {
    const { version, path } = await SERVERS[name](name, (line) => console.error(line));
    console.log(name, version, path);
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    process.exitCode = 1;
  }
}
