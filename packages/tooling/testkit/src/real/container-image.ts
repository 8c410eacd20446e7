/** An image of busybox and the modules that the suite's Perl wants, made on this machine: nothing is fetched. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "@svc/kit/process";
import type { MissingPart } from "../require-real.ts";

export interface ContainerImage extends Disposable {
  readonly name: string;
}

export async function missingEngine(engine: "podman" | "docker" = "podman"): Promise<MissingPart | undefined> {
  for (const [program, name, tier] of [
    [engine, engine, engine === "podman" ? "A" : "B"],
    ["busybox", "busybox-static", "A"],
  ] as const) {
    if ((await findProgram(program)) === undefined)
      return { name, reason: `it is not installed; apt-get install ${name}`, tier };
  }
  return undefined;
}

/** `engine`: the program, with the options before its command. */
export function makeContainerImage(engine: readonly [string, ...string[]]): ContainerImage {
  const [file, ...options] = engine;
  const root = mkdtempSync(join(tmpdir(), "svc-image-"));
  const name = `localhost/svc-test:${randomUUID()}`;
  try {
    for (const folder of ["bin", "etc", "tmp", "dev", "proc", "sys", "root", "var/tmp"])
      mkdirSync(join(root, folder), { recursive: true });
    chmodSync(root, 0o755);
    for (const folder of ["tmp", "var/tmp"]) chmodSync(join(root, folder), 0o1777);
    const busybox = execFileSync("which", ["busybox"], { encoding: "utf8" }).trim();
    copyFileSync(busybox, join(root, "bin/busybox"));
    const commands = execFileSync(busybox, ["--list"], { encoding: "utf8" }).trim().split("\n");
    for (const command of commands) if (command !== "busybox") symlinkSync("busybox", join(root, "bin", command));
    for (const modules of perlModules())
      cpSync(modules, join(root, modules), { recursive: true, verbatimSymlinks: true });
    const tar = join(root, "image.tar");
    execFileSync("tar", ["--create", "--file", tar, "--exclude", "./image.tar", "--directory", root, "."]);
    execFileSync(file, [...options, "import", tar, name], { stdio: ["ignore", "ignore", "pipe"] });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  return {
    name,
    [Symbol.dispose]: () => void execFileSync(file, [...options, "rmi", "--force", name], { stdio: "ignore" }),
  };
}

/** Those of the package perl-base. */
const perlModules = (): string[] =>
  execFileSync("perl", ["-e", "print join qq(\\n), grep { m,/perl-base$, } @INC"], { encoding: "utf8" })
    .split("\n")
    .filter(Boolean);
