#!/usr/bin/env node
// `npm run check`, `npm test` and `npm run test:all`. The last line is `N passed, N failed, N skipped`; a task that runs no
// tests counts as one.
import "./node-version.mjs";
import { randomInt } from "node:crypto";
import { install, toolsEnv } from "./install.mjs";
import { BootstrapError, progressOn, runMain } from "./progress.mjs";
import { sum, tallyLine } from "./tally.mjs";
import { machine, outcomeOf, runTasks } from "./tasks.mjs";

/** @typedef {import("./tasks.mjs").Outcome} Outcome */

const fast = ["types", "types:tests", "lint", "format:check", "checks", "knip"];
/** What hangs is a failure that is named, and not a job that has to be cancelled: each tier has an end. */
const tiers = {
  check: {
    runs: "npm run check",
    mostMinutes: 20,
    steps: [
      { name: "types, lint, format, checks", tasks: fast },
      { name: "unit tests of what changed", tasks: ["unit"], flags: ["--affected"] },
    ],
  },
  test: {
    runs: "npm test",
    mostMinutes: 25,
    steps: [{ name: "checks and tests", tasks: [...fast, "docs", "unit", "promises"] }],
  },
  all: {
    runs: "npm run test:all",
    mostMinutes: 75,
    // Each test runs, whatever an earlier run found.
    steps: [
      {
        name: "checks and all tests",
        tasks: [...fast, "docs", "unit", "whole-binary", "chaos:short", "fuzz:short"],
        flags: ["--force"],
      },
    ],
  },
};

await runMain(async () => {
  const [name, ...more] = process.argv.slice(2);
  const tier = tiers[/** @type {keyof typeof tiers} */ (name)];
  if (tier === undefined) throw new BootstrapError("Usage: test.mjs check|test|all", 64);
  if (more.length > 0) {
    throw new BootstrapError(
      `\`${tier.runs}\` takes no arguments. One file: \`npm run unit -- <file>\` or \`npm run e2e -- <file>\`.`,
      64,
    );
  }
  const progress = progressOn();
  const seed = process.env["SVC_SEED"] ?? String(randomInt(2 ** 31));
  const env = {
    ...toolsEnv(),
    SVC_SEED: seed,
    SVC_CASES: name === "all" ? "all" : "",
    SVC_MACHINE: machine(),
  };
  const outcomes = await everything(tier, env, progress);
  tell(outcomes, progress);
  const total = sum(outcomes.map(({ tally }) => tally));
  progress.line(`Property tests: ${name === "all" ? "all cases" : "a tenth of the cases"}, SVC_SEED=${seed}`);
  progress.line(`\n${tallyLine(total)}`);
  return total.failed === 0 ? 0 : 1;
});

/**
 * @param {{ mostMinutes: number, steps: readonly { name: string, tasks: readonly string[], flags?: readonly string[] }[] }} tier
 * @param {NodeJS.ProcessEnv} env
 * @param {import("./progress.mjs").Progress} progress
 */
async function everything({ mostMinutes, steps }, env, progress) {
  /** @type {Outcome[]} */
  const outcomes = [await installed(progress)];
  if (outcomes[0]?.tally.failed !== 0) return outcomes;
  const end = performance.now() + mostMinutes * 60_000;
  for (const { name, tasks, flags = [] } of steps) {
    outcomes.push(
      ...(await progress.step(
        name,
        ({ note }) =>
          runTasks(tasks, {
            env,
            limitMs: end - performance.now(),
            flags,
            note,
            failed: (test) => progress.line(`  failed: ${test}`),
          }),
        (done) => {
          const total = sum(done.map(({ tally }) => tally));
          return { ok: total.failed === 0, text: tallyLine(total) };
        },
      )),
    );
  }
  return outcomes;
}

/** @param {import("./progress.mjs").Progress} progress */
async function installed(progress) {
  try {
    await install({ progress });
    return outcomeOf("packages");
  } catch (error) {
    if (!(error instanceof BootstrapError)) throw error;
    progress.line(error.message);
    return outcomeOf("packages", { failures: ["see above"] });
  }
}

/**
 * @param {readonly Outcome[]} outcomes
 * @param {import("./progress.mjs").Progress} progress
 */
function tell(outcomes, progress) {
  for (const { tally, output } of outcomes)
    if (tally.failed > 0 && output !== "") progress.line(`\n${output.trimEnd()}`);
  const ran = outcomes.filter(({ isCached }) => !isCached).toSorted((a, b) => b.seconds - a.seconds);
  const cached = outcomes.length - ran.length;
  progress.line(`\nTasks${cached > 0 ? ` (${cached} more are as they were, and did not run again)` : ""}:`);
  for (const { name, seconds, tally } of ran) progress.line(`  ${name}: ${tallyLine(tally)}, ${seconds.toFixed(1)} s`);
  const slowest = outcomes.flatMap(({ slowest: files }) => files).toSorted((a, b) => b.seconds - a.seconds);
  const listed = [
    ["Slowest files", slowest.slice(0, 20).map(({ file, seconds }) => `${file}: ${seconds} s`)],
    ["Skipped", outcomes.flatMap(({ skips }) => skips).map(({ name, reason }) => `${name}\n    ${reason}`)],
    ["Failed", outcomes.flatMap(({ failures }) => failures).map(({ name, why }) => `${name}\n    ${indent(why)}`)],
  ];
  for (const [title, lines] of listed)
    if (lines?.length)
      progress.line(`\n${title}:\n${/** @type {string[]} */ (lines).map((line) => `  ${line}`).join("\n")}`);
}

/** @param {string} text */
function indent(text) {
  return text.split("\n").slice(0, 5).join("\n    ");
}
