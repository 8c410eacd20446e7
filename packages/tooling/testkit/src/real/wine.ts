/**
 * Programs of Windows under wine 10, in a Debian tree that `packages/tooling/bootstrap/wine/prepare.sh` brings. A session has mounts,
 * processes and a drive C: of its own; the network is this machine's, so that loopback is one.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MissingPart } from "../require-real.ts";

const CHECKOUT = fileURLToPath(new URL("../../../../..", import.meta.url));
const TREE =
  process.env["SVC_WINE_ROOT"] ??
  ["/srv/svc-wine", join(CHECKOUT, "node_modules/.cache/svc/wine")].find((tree) => existsSync(join(tree, ".ready")));

/** Undefined: all is there. */
export function missingWine(): MissingPart | undefined {
  const name = "wine 10";
  if (process.getuid?.() !== 0) return { name, reason: "its mounts need root", tier: "B" };
  if (TREE !== undefined && existsSync(join(TREE, ".ready")) && existsSync(windowsNode())) return undefined;
  return { name, reason: "packages/tooling/bootstrap/wine/prepare.sh gets it (root, 2 GB)", tier: "B" };
}

/** Node's own package for Windows, as the tree has it. */
export const windowsNode = (): string => join(TREE ?? "", "win-node");

export interface WineRun {
  readonly code: number;
  /** Both streams, with the line ends of Windows. */
  readonly output: string;
}

export interface Wine extends AsyncDisposable {
  /** The drive C:, as this machine sees it. */
  readonly driveC: string;
  /** Runs a line of cmd.exe to its end. */
  run(line: string, env?: Readonly<Record<string, string>>): Promise<WineRun>;
  /** Starts one, and goes on. `output` is what it has printed so far. */
  start(line: string, env?: Readonly<Record<string, string>>): { readonly ended: Promise<number>; output(): string };
}

/** `folders`: by name, seen as `Z:\win\<name>`; only those of `writable` can be written to. */
export async function openWine(
  folders: Readonly<Record<string, string>>,
  writable: Readonly<Record<string, string>> = {},
): Promise<Wine> {
  if (TREE === undefined) throw new Error("there is no wine");
  const tree = TREE;
  const mounts = [
    ...Object.entries(folders).flatMap(([name, folder]) => ["ro", folder, name]),
    ...Object.entries(writable).flatMap(([name, folder]) => ["rw", folder, name]),
  ];
  const script = fileURLToPath(new URL("./wine.sh", import.meta.url));
  const holder = spawn(script, [tree, ...mounts], { stdio: ["pipe", "pipe", "inherit"] });
  const end = (): void => void holder.kill("SIGKILL");
  process.once("exit", end);
  await ready(holder);
  const inside = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, "utf8").trim();
  const root = `/proc/${inside}/root${tree}`;
  let runs = 0;

  function launch(line: string, env: Readonly<Record<string, string>>): { child: ChildProcess; file: string } {
    runs += 1;
    const name = `output-${runs}.txt`;
    const settings = {
      PATH: "/usr/bin:/bin",
      HOME: "/tmp",
      WINEPREFIX: "/prefix",
      WINEDEBUG: "-all",
      WINEDLLOVERRIDES: "mscoree,mshtml=",
      XDG_RUNTIME_DIR: "/tmp",
      ...env,
    };
    const child = spawn(
      "nsenter",
      [
        "--target",
        inside,
        "--mount",
        "--pid",
        "chroot",
        tree,
        "/usr/bin/env",
        "-i",
        ...Object.entries(settings).map(([key, value]) => `${key}=${value}`),
        // Output to a file: a pipe gives node.exe "open EBADF".
        "/bin/sh",
        "-c",
        `cd /tmp && exec wine cmd /c "$1 > Z:\\\\tmp\\\\$2 2>&1"`,
        "wine",
        line,
        name,
      ],
      { stdio: "ignore" },
    );
    return { child, file: join(root, "tmp", name) };
  }
  const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, "utf8") : "");

  return {
    driveC: join(root, "prefix/drive_c"),
    async run(line, env = {}) {
      const { child, file } = launch(line, env);
      const code = await exitOf(child);
      return { code, output: textOf(file) };
    },
    start(line, env = {}) {
      const { child, file } = launch(line, env);
      return { ended: exitOf(child), output: () => textOf(file) };
    },
    async [Symbol.asyncDispose]() {
      process.off("exit", end);
      const ended = exitOf(holder);
      end();
      await ended;
    },
  };
}

function ready(holder: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    holder.stdout?.once("data", () => resolve());
    holder.once("error", reject);
    holder.once("exit", (code) => reject(new Error(`the wine session ended with ${code}`)));
  });
}

const exitOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    if (child.exitCode !== null) return resolve(child.exitCode);
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 128));
  });
