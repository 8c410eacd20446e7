/** Packed chunks + base Node → one executable (`node --build-sea`). */
import { SvcError } from "@svc/contract";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Bundle } from "./bundle.ts";
import { LOADER_FLAGS, mainScript } from "./code-cache.ts";

const run = promisify(execFile);

/**
 * SIGUSR1 would open Node's inspector: a port by which any local program runs code in the service. No V8 flag belongs here: a
 * changed flag voids the code cache of Node's own modules, and each start is 5 to 40 ms later.
 */
const RUNTIME_FLAGS = ["--disable-warning=ExperimentalWarning", "--disable-sigusr1", ...LOADER_FLAGS];

/**
 * @param version What the binary answers to `--version`.
 * @param assets File name inside the binary → file.
 * @throws SvcError BUILD_FAILED with what Node printed.
 */
export async function makeBinary(
  { dir }: Bundle,
  base: string,
  version: string,
  assets: Readonly<Record<string, string>>,
  output: string,
): Promise<void> {
  writeFileSync(join(dir, MAIN), await mainScript(version));
  const config = {
    main: MAIN,
    executable: base,
    output,
    disableExperimentalSEAWarning: true,
    // Otherwise NODE_OPTIONS=--require could run any code inside the service.
    execArgvExtension: "none",
    execArgv: RUNTIME_FLAGS,
    assets,
  };
  const file = join(dir, "sea.json");
  writeFileSync(file, JSON.stringify(config));
  try {
    const { NODE_OPTIONS: _dropped, ...env } = process.env;
    await run(process.execPath, ["--build-sea", file], { cwd: dir, env });
    // The kernel of macOS refuses a changed executable until it is signed again (not tried here).
    if (process.platform === "darwin") await run("codesign", ["--force", "--sign", "-", output]);
  } catch (error) {
    const printed = (error as { stderr?: string }).stderr?.trim() ?? "";
    throw new SvcError("BUILD_FAILED", `The binary could not be made.${printed === "" ? "" : `\n  ${printed}`}`, {
      hint: "Is there enough room on the disk (300 MB)?",
      cause: error,
    });
  }
}

const MAIN = "main.cjs";

/** Runs `--version` with nothing in the environment: what does not start here is not handed out. */
export async function tryBinary(file: string): Promise<string> {
  try {
    const { stdout } = await run(file, ["--version"], { env: {}, cwd: join(file, "..") });
    return stdout.trim();
  } catch (error) {
    const printed = (error as { stderr?: string }).stderr?.trim() ?? "";
    throw new SvcError("BUILD_FAILED", `The binary does not start.${printed === "" ? "" : `\n  ${printed}`}`, {
      hint: printed.includes("libatomic.so.1")
        ? "Install libatomic1 (Debian, Ubuntu) or libatomic (Fedora)."
        : "The sources start by themselves? Try: pnpm dev",
      cause: error,
    });
  }
}
