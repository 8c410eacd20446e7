#!/usr/bin/env node
// `npm start`: install, build `home` if it is stale, run the daemon in the foreground. What follows `--` goes to it.
import "./node-version.mjs";
import { build } from "./build.mjs";
import { foreground } from "./foreground.mjs";
import { install } from "./install.mjs";
import { progressOn, runMain } from "./progress.mjs";

await runMain(async () => {
  const progress = progressOn();
  await install({ progress });
  const binary = await build({ profile: "home" }, { progress });
  return foreground(binary, ["daemon", ...process.argv.slice(2)]);
});
