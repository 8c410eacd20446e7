#!/usr/bin/env node
// `npm run demo`: the whole service in ten seconds, without a question. `--binary <file>` tours a binary that is
// already built, without installing anything.
import "./node-version.mjs";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { build } from "./build.mjs";
import { withDaemon } from "./daemon.mjs";
import { install } from "./install.mjs";
import { BootstrapError, progressOn, runMain } from "./progress.mjs";
import { run } from "./run.mjs";
import { tour } from "./tour.mjs";

await runMain(async () => {
  const progress = progressOn();
  const binary = binaryArgument(process.argv.slice(2)) ?? (await freshBinary(progress));
  const version = await run(binary, ["--version"], { env: {} });
  if (version.code !== 0 || !/\d+\.\d+\.\d+/u.test(version.output)) {
    throw new BootstrapError(`${binary} --version ended with ${version.code}:\n${version.output}`, 70);
  }
  progress.line(`\n$ svc --version\n${version.output.trim()}`);
  await withDaemon(binary, async (daemon) => {
    progress.line(
      `\n$ svc daemon\nlistening on ${daemon.url}, pairing code ${daemon.pairingCode}, home ${daemon.home}`,
    );
    const good = await tour(daemon, ({ title, request, answer, problem }) => {
      progress.line(`\n${title}\n> ${request}\n< ${answer.status} ${JSON.stringify(answer.body)}`);
      if (problem) progress.line(`! ${problem}`);
    });
    if (!good) throw new Error("An answer was not as it should be (see above).");
    const code = await daemon.stop();
    progress.line(`\n$ kill -TERM <daemon>\nended with exit code ${code}; its home is removed`);
    if (code !== 0) throw new Error(`The daemon ended with ${code} instead of 0.`);
  });
  progress.line("\nEverything as it should be.");
  return 0;
});

/** @param {import("./progress.mjs").Progress} progress */
async function freshBinary(progress) {
  await install({ progress });
  return build({ profile: "home" }, { progress });
}

/** @param {string[]} args */
function binaryArgument(args) {
  if (args.length === 0) return undefined;
  const [flag, file, ...rest] = args;
  if (flag !== "--binary" || !file || rest.length > 0)
    throw new BootstrapError("Usage: npm run demo [-- --binary <file>]", 64);
  if (!existsSync(file)) throw new BootstrapError(`There is no file ${resolve(file)}.`, 66);
  return resolve(file);
}
