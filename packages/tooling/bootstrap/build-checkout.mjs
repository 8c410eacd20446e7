#!/usr/bin/env node
// Installs and builds any checkout of this project, also one of an older commit, and prints the path of its binary.
// Usage: node build-checkout.mjs <folder> [profile]
import "./node-version.mjs";
import { resolve } from "node:path";
import { build } from "./build.mjs";
import { install } from "./install.mjs";
import { BootstrapError, progressOn, runMain } from "./progress.mjs";

await runMain(async () => {
  const [folder, profile = "minimal", ...others] = process.argv.slice(2);
  if (folder === undefined || others.length > 0) {
    throw new BootstrapError("Usage: node build-checkout.mjs <folder> [profile]", 64);
  }
  const checkout = resolve(folder);
  // stdout has the path and nothing else: another program reads it.
  const progress = progressOn(process.stderr);
  await install({ progress, checkout });
  process.stdout.write(`${await build({ profile }, { progress, checkout })}\n`);
  return 0;
});
