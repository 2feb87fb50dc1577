// `import.mjs api|uuid|main`: CPU time of one import, in us. Prints JSON.
const WHAT = { api: "@opentelemetry/api", uuid: "uuid", main: "../../dist/index.mjs" };

const what = WHAT[process.argv[2]];
const from = process.cpuUsage();
await import(what);
const { user, system } = process.cpuUsage(from);
console.log(JSON.stringify({ us: user + system }));
