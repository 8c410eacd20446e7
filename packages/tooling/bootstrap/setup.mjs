#!/usr/bin/env node
// What setup.sh, setup.ps1 and setup.bat call. Never asks.
import "./node-version.mjs";
import { relative } from "node:path";
import { build } from "./build.mjs";
import { root } from "./checkout.mjs";
import { featureNames } from "./features.mjs";
import { install } from "./install.mjs";
import { placeBinary } from "./place.mjs";
import { BootstrapError, progressOn, runMain } from "./progress.mjs";
import { parseSetup, setupHelp } from "./setup-arguments.mjs";
import { installPath, planSetup, planText } from "./setup-plan.mjs";

await runMain(async () => {
  const { request, problems } = parseSetup(process.argv.slice(2), featureNames());
  if (request.help) {
    process.stdout.write(setupHelp);
    return 0;
  }
  if (problems.length > 0) throw new BootstrapError(`${problems.join("\n")}\nSee --help.`, 64);
  if (request.dryRun) {
    const plan = planSetup(request);
    process.stdout.write(request.json ? `${JSON.stringify(plan, undefined, 2)}\n` : planText(plan));
    return 0;
  }
  const progress = progressOn();
  await install({ progress });
  const binary = await build(request, { progress });
  progress.line(`binary: ${relative(root, binary)}`);
  if (request.prefix !== undefined) {
    const target = installPath(request.prefix);
    placeBinary(binary, target);
    progress.line(`installed: ${target}`);
  }
  return 0;
});
