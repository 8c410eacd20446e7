/** `pnpm dev [profile] [-- arguments]`: runs the sources, and again whenever one of them changes. */
import { spawn } from "node:child_process";
import { readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { parseBuildArgs } from "./args.ts";
import { readCatalogue } from "./catalogue.ts";
import { generate, type Generated } from "./generate.ts";
import { buildPage } from "./page.ts";
import { resolveProfile, type Request } from "./select.ts";
import { sourceOf } from "./source.ts";
import { tellError } from "./tell-error.ts";
import { featuresDir, packageDirs, profilesDir, workspaceRoot } from "./workspace.ts";

const HELP = `pnpm dev [profile] [--with a,b] [--without c] [-- arguments of svc]

Runs the sources of a profile (default: minimal) and starts them again on every change.
Without arguments after --, it runs: svc daemon

Examples
  pnpm dev
  pnpm dev full -- chat
  SVC_HOME=/tmp/home pnpm dev --with ./my-feature
`;

try {
  const args = parseBuildArgs(process.argv.slice(2), process.env["INIT_CWD"] ?? process.cwd());
  if (args.help) process.stdout.write(HELP);
  else await run(args.request, args.rest.length > 0 ? args.rest : ["daemon"]);
} catch (error) {
  tellError(error, false);
}

async function run(request: Request, args: readonly string[]): Promise<void> {
  const [{ entry }] = await Promise.all([write(request), buildPage(workspaceRoot)]);
  watchProfile(() => {
    write(request).catch((error: unknown) => {
      tellError(error, false);
      process.exitCode = 0; // The sources that run are still the last good ones.
    });
  });
  const hooks = join(import.meta.dirname, "dev-resolve.ts");
  // The profile's files are watched here; what the sources import is watched by Node.
  const child = spawn(process.execPath, ["--watch", "--watch-preserve-output", "--import", hooks, entry, ...args], {
    stdio: "inherit",
  });
  // The terminal signals the whole group; this process only waits, so that the daemon can drain.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(signal === null ? (code ?? 0) : 0));
}

async function write(request: Request): Promise<Generated> {
  const catalogue = readCatalogue();
  const { commit } = await sourceOf(workspaceRoot);
  return generate(catalogue, resolveProfile(catalogue, request), commit);
}

/** Calls back after a profile, a manifest or the list of packages changed. */
function watchProfile(changed: () => void): void {
  const dirs = [profilesDir(workspaceRoot), featuresDir(workspaceRoot)];
  const packages = packageDirs(featuresDir(workspaceRoot)).map((name) => join(featuresDir(workspaceRoot), name));
  for (const dir of [...dirs, ...packages.filter((dir) => readdirSync(dir).includes("package.json"))]) {
    watch(dir, (_event, file) => {
      if (file === null || file.endsWith(".toml") || file === "package.json" || dir === dirs[1]) changed();
    });
  }
}
