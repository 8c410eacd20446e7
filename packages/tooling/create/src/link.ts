/** Makes the new package resolve: pnpm links it, the formatter gives it its final shape, the reference gets its keys. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** What went wrong, as text for a person; undefined when all went well. */
export function linkPackage(root: string, folder: string): string | undefined {
  // Everything a template needs is in the store since the first install; the network is only the second try.
  const install = ["install", "--frozen-lockfile=false"];
  return (
    run(root, "oxfmt", [folder]) ??
    (run(root, "pnpm", [...install, "--offline"]) === undefined ? undefined : run(root, "pnpm", install)) ??
    renewReference(root)
  );
}

/** The keys of its section belong on the page of the config. Without git the checks can't run, so nothing compares it. */
function renewReference(root: string): string | undefined {
  if (!existsSync(join(root, ".git"))) return undefined;
  return run(root, "node", ["packages/tooling/checks/src/cli.ts", "--write", "--only", "generated-pages"]);
}

function run(root: string, program: string, args: readonly string[]): string | undefined {
  const suffix = process.platform === "win32" ? ".cmd" : "";
  const file = join(root, "node_modules/.bin", `${program}${suffix}`);
  if (!existsSync(file)) return `${program} is not installed here.`;
  const { status, stdout, stderr, error } = spawnSync(file, args, {
    cwd: root,
    encoding: "utf8",
    shell: suffix !== "",
    stdio: ["ignore", "pipe", "pipe"],
  });
  return status === 0 ? undefined : `${program} failed.\n${error?.message ?? ""}${stdout ?? ""}${stderr ?? ""}`.trim();
}
