#!/usr/bin/env node
// The end of `.ci/run`: builds every profile, tours each one's binary, and adds both to the numbers of the test runs before,
// whose outputs and exit codes are given: `profiles.mjs <file> <code> [<file> <code>...]`.
import "./node-version.mjs";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { profiles, root } from "./checkout.mjs";
import { BootstrapError, progressOn, runMain } from "./progress.mjs";
import { run } from "./run.mjs";
import { readFailures, readTally, sum, tallyLine } from "./tally.mjs";

await runMain(async () => {
  const runs = process.argv.slice(2);
  if (runs.length === 0 || runs.length % 2 > 0) {
    throw new BootstrapError("Usage: profiles.mjs <output of a test run> <its exit code> [...]", 64);
  }
  const progress = progressOn();
  const tallies = [];
  const failures = [];
  for (let index = 0; index < runs.length; index += 2) {
    const output = readFileSync(/** @type {string} */ (runs[index]), "utf8");
    tallies.push(readTally(output, Number(runs[index + 1])));
    failures.push(readFailures(output));
  }
  for (const profile of [...profiles, "all"]) tallies.push(await check(profile, progress));
  const total = sum(tallies);
  // Again at the end: they stand thousands of lines above it.
  const listed = failures.filter((text) => text !== "").join("\n");
  if (listed !== "") progress.line(`\nFailed:\n${listed}`);
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
