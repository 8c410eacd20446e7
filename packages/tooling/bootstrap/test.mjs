#!/usr/bin/env node
// `npm test`: everything there is to check. The last line is `N passed, N failed, N skipped`; a step that is not a
// test runner counts as one test.
import "./node-version.mjs";
import { build } from "./build.mjs";
import { install } from "./install.mjs";
import { BootstrapError, progressOn, runMain } from "./progress.mjs";
import { sum, tallyLine } from "./tally.mjs";
import { oneFailed, onePassed, staticSteps, tests } from "./test-steps.mjs";

/** @typedef {import("./test-steps.mjs").Outcome} Outcome */

await runMain(async () => {
  if (process.argv.length > 2) {
    throw new BootstrapError(
      "`npm test` runs everything and takes no arguments. One file: `pnpm unit <file>` or `pnpm e2e <file>`.",
      64,
    );
  }
  const progress = progressOn();
  const outcomes = await everything(progress);
  const skips = outcomes.flatMap((outcome) => outcome.skips);
  const failures = outcomes.flatMap((outcome) => outcome.failures);
  const slowest = outcomes.flatMap((outcome) => outcome.slowest).slice(0, 20);
  const total = sum(outcomes.map((outcome) => outcome.tally));
  if (slowest.length > 0)
    progress.line(`\nSlowest files:\n${slowest.map(({ file, seconds }) => `  ${file}: ${seconds} s`).join("\n")}`);
  if (skips.length > 0)
    progress.line(`\nSkipped:\n${skips.map(({ name, reason }) => `  ${name}\n    ${reason}`).join("\n")}`);
  if (failures.length > 0)
    progress.line(`\nFailed:\n${failures.map(({ name, why }) => `  ${name}\n    ${indent(why)}`).join("\n")}`);
  progress.line(`\n${tallyLine(total)}`);
  return total.failed === 0 ? 0 : 1;
});

/**
 * @param {import("./progress.mjs").Progress} progress
 * @returns {Promise<Outcome[]>}
 */
async function everything(progress) {
  const installed = await attempt("packages", () => install({ progress }), progress);
  if (installed.tally.failed > 0) return [installed];
  const outcomes = [];
  for (const step of [...staticSteps(), tests("unit and conformance tests", "unit")])
    outcomes.push(await show(step, progress));
  const built = [];
  for (const profile of ["minimal", "all"]) {
    built.push(await attempt(`build ${profile}`, () => build({ profile }, { progress }), progress));
  }
  outcomes.push(...built);
  const binaryTests = tests("whole-binary tests", "e2e");
  // Without this, a broken build would be tested with the binary of an earlier one.
  if (built.some(({ tally }) => tally.failed > 0))
    outcomes.push(oneFailed(binaryTests.name, "not run: a binary of this source is missing"));
  else outcomes.push(await show(binaryTests, progress));
  return outcomes;
}

/**
 * @param {import("./test-steps.mjs").TestStep} step
 * @param {import("./progress.mjs").Progress} progress
 */
async function show(step, progress) {
  const outcome = await progress.step(
    step.name,
    ({ note }) => step.work(note),
    ({ tally }) => ({ ok: tally.failed === 0, text: tallyLine(tally) }),
  );
  if (outcome.tally.failed > 0) progress.line(`${outcome.output.trimEnd()}\n`);
  return outcome;
}

/**
 * @param {string} name
 * @param {() => Promise<unknown>} work
 * @param {import("./progress.mjs").Progress} progress
 */
async function attempt(name, work, progress) {
  try {
    await work();
    return onePassed();
  } catch (error) {
    if (!(error instanceof BootstrapError)) throw error;
    progress.line(error.message);
    return oneFailed(name, "see above");
  }
}

/** @param {string} text */
function indent(text) {
  return text.split("\n").slice(0, 5).join("\n    ");
}
