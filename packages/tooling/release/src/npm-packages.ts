/** `npm install -g`: a small package with a shim, and one package per platform that holds the binary, as an optional dependency. */
import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Build } from "./builds.ts";
import { FILES, settleTree } from "./linux-packages.ts";

const run = promisify(execFile);

export const NPM_NAME = "svc-gateway";

/** Names of the tarballs in `out`; `builds` are of one profile. */
export async function makeNpmPackages(builds: readonly Build[], out: string): Promise<string[]> {
  const work = mkdtempSync(join(tmpdir(), "svc-npm-"));
  try {
    const folders = [...builds.map((build) => platformPackage(build, work)), mainPackage(builds, work)];
    const names: string[] = [];
    for (const folder of folders) {
      settleTree(folder);
      const { stdout } = await run(
        "npm",
        ["pack", folder, "--silent", "--ignore-scripts", "--offline", "--pack-destination", out],
        { env: { ...process.env, HOME: work }, cwd: work },
      );
      names.push(stdout.trim().split("\n").at(-1)!);
    }
    return names;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const common = (version: string) => ({ version, license: "MIT", description: "svc: a self-hosted agent gateway" });

function platformPackage({ version, target, file, name }: Build, work: string): string {
  const [os, cpu] = target.split("-");
  const folder = join(work, target);
  mkdirSync(join(folder, "bin"), { recursive: true });
  cpSync(file, join(folder, "bin", name));
  chmodSync(join(folder, "bin", name), 0o755);
  writeFileSync(join(folder, "bin/svc.managed-by"), `npm install -g ${NPM_NAME}\n`);
  const libc = os === "linux" ? { libc: ["glibc"] } : {};
  const manifest = { name: `${NPM_NAME}-${target}`, ...common(version), os: [os], cpu: [cpu], ...libc, files: ["bin"] };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return folder;
}

function mainPackage(builds: readonly Build[], work: string): string {
  const { version } = builds[0]!;
  const folder = join(work, "main");
  mkdirSync(join(folder, "bin"), { recursive: true });
  const shim = readFileSync(join(FILES, "npm-shim.cjs"), "utf8").replaceAll("@name@", NPM_NAME);
  writeFileSync(join(folder, "bin/svc.cjs"), shim, { mode: 0o755 });
  const manifest = {
    name: NPM_NAME,
    ...common(version),
    bin: { svc: "bin/svc.cjs", [NPM_NAME]: "bin/svc.cjs" },
    files: ["bin"],
    engines: { node: ">=18" },
    // Exactly this version: a shim must never start another one's binary.
    optionalDependencies: Object.fromEntries(builds.map(({ target }) => [`${NPM_NAME}-${target}`, version])),
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(
    join(folder, "README.md"),
    `# ${NPM_NAME}\n\nA self-hosted agent gateway in one binary.\n\n    npm install -g ${NPM_NAME}\n    svc init\n\nOr without installing: \`npx ${NPM_NAME} daemon\`.\n`,
  );
  return folder;
}
