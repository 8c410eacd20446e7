/** A piece of a machine around one sandbox, in a folder that everybody may write: what stops a command is the sandbox. */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Confinement } from "@svc/contract";
import { bring } from "./perl.ts";
import type { Who } from "./subject.ts";

export interface World extends Disposable {
  /** What no command may read: it is in every file called `canary`. */
  readonly secret: string;
  /** `$SVC_HOME`, with a canary; the workspace is in it. */
  readonly home: string;
  readonly workspace: string;
  /** A second hidden folder, as `~/.ssh` is, with a canary. */
  readonly keys: string;
  /** Neither hidden nor handed over, with a canary. */
  readonly outside: string;
  /** Of the config, each with a file `notes`, and a folder beside it with a canary. */
  readonly readable: string;
  readonly writable: string;
  readonly confinement: Confinement;
  /** What is in the canary of `outside` now. */
  canaryOutside(): string;
}

export function makeWorld({ user }: Who, asked: Partial<Confinement> = {}): World {
  // Not in /tmp: most sandboxes have one of their own, and that alone would hide everything here.
  const root = realpathSync(
    mkdtempSync(join(process.platform === "linux" ? "/var/tmp" : "/private/tmp", "svc-sandbox-")),
  );
  const secret = randomBytes(16).toString("hex");
  const folder = (...names: string[]): string => {
    const path = join(root, ...names);
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o777);
    return path;
  };
  const canary = (path: string, name = "canary", text = secret): void => {
    writeFileSync(join(path, name), text);
    chmodSync(join(path, name), 0o666);
  };
  chmodSync(root, 0o755);
  const home = folder("home");
  const keys = folder("person", ".ssh");
  const outside = folder("outside");
  const readable = folder("given", "readable");
  const writable = folder("given", "writable");
  const workspace = folder("home", "workspace");
  for (const path of [home, keys, outside, folder("given", "beside")]) canary(path);
  for (const path of [readable, writable]) canary(path, "notes", "notes\n");
  bring(workspace);
  if (user) handOver(workspace, user);
  const confinement: Confinement = {
    workspace,
    network: false,
    readable: [readable],
    writable: [writable],
    hidden: [home, keys],
    limits: {},
    ...(user && { user }),
    ...asked,
  };
  const remove = () => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  return {
    secret,
    home,
    workspace,
    keys,
    outside,
    readable,
    writable,
    confinement,
    canaryOutside: () => readFileSync(join(outside, "canary"), "utf8"),
    [Symbol.dispose]: remove,
  };
}

function handOver(folder: string, { uid, gid }: NonNullable<Confinement["user"]>): void {
  chownSync(folder, uid, gid);
  chmodSync(folder, 0o755);
  for (const name of readdirSync(folder, { recursive: true }) as string[]) lchownSync(join(folder, name), uid, gid);
}
