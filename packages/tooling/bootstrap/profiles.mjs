#!/usr/bin/env node
// The second half of `.ci/run`: builds every profile, tours each one's binary, and adds both to the numbers of
// `npm test`, whose output and exit code are given: `profiles.mjs <file> <code>`.
import "./node-version.mjs";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { profiles, root } from "./checkout.mjs";
import { BootstrapError, progressOn, runMain } from "./progress.mjs";
import { run } from "./run.mjs";
import { readTally, sum, tallyLine } from "./tally.mjs";

await runMain(async () => {
  const [file, code] = process.argv.slice(2);
  if (!file || !code) throw new BootstrapError("Usage: profiles.mjs <output of npm test> <its exit code>", 64);
  const progress = progressOn();
  const tallies = [readTally(readFileSync(file, "utf8"), Number(code))];
  for (const profile of [...profiles, "all"]) tallies.push(await check(profile, progress));
  const total = sum(tallies);
  progress.line(`\n${tallyLine(total)}`);
  return total.failed === 0 ? 0 : 1;
});

/**
 * @param {string} profile
 * @param {import("./progress.mjs").Progress} progress
 */
async function check(profile, progress) {
  /** @type {string} */
  let binary;
  try {
    binary = await build({ profile }, { progress });
  } catch (error) {
    progress.line(error instanceof Error ? error.message : String(error));
    return { passed: 0, failed: 2, skipped: 0 }; // the build, and the tour that could not be made
  }
  const demo = join(root, "packages", "tooling", "bootstrap", "demo.mjs");
  const result = await progress.step(
    `run ${profile}: version, health, pair, a turn, a replay`,
    () => run(process.execPath, [demo, "--binary", binary], { limitMs: 120_000 }),
    ({ code }) => ({ ok: code === 0 }),
  );
  if (result.code !== 0) progress.line(result.output);
  return { passed: result.code === 0 ? 2 : 1, failed: result.code === 0 ? 0 : 1, skipped: 0 };
}
