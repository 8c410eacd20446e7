/** What every sandbox is asked at its probe: to fail at what a hostile command would do. Its word is not taken for it. */
import { randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Confinement, type ExecResult, type SandboxBackend, SvcError } from "@svc/contract";
import { shellWord } from "./shell-word.ts";

export interface ConfinementProof {
  readonly open: SandboxBackend["open"];
  /** What it is to confine; limits that it can't hold are left out already. */
  readonly confinement: Confinement;
  readonly signal: AbortSignal;
  /**
   * A line of the shell that prints `offline` alone when it sees that there is no network, by what the backend closes it with.
   * Beside it a connection is tried, where the machine has a bash to try it with.
   */
  readonly offline: string;
}

/**
 * Why it does not confine, as the rest of a sentence; undefined: it does. One command is run, of what a shell has built in.
 * Rejects with what `open` or `exec` throw, or the signal's reason. Leaves nothing behind.
 */
export async function proveConfinement(proof: ConfinementProof): Promise<string | undefined> {
  const { signal } = proof;
  signal.throwIfAborted();
  const scene = await setScene(proof.confinement);
  const listener = proof.confinement.network ? undefined : await listen();
  try {
    const confinement = { ...proof.confinement, hidden: [...proof.confinement.hidden, scene.hidden] };
    const session = await proof.open(confinement);
    let result: ExecResult;
    try {
      const command = lineOf(scene, listener?.port, proof.offline);
      result = await session.exec({ command, signal, timeoutMs: LONGEST_MS });
    } finally {
      await session.close();
    }
    return (await objection(scene, proof.confinement, result)) ?? networkObjection(result, listener);
  } finally {
    listener?.server.close();
    await rm(scene.root, { recursive: true, force: true });
    await rm(scene.note, { force: true });
  }
}

const LONGEST_MS = 9_000;

interface Scene {
  readonly root: string;
  /** A folder with a canary in it, whose modes let everybody read it. */
  readonly hidden: string;
  readonly canary: string;
  /** A folder that everybody may write. */
  readonly outside: string;
  /** In the workspace. */
  readonly note: string;
}

async function setScene({ workspace }: Confinement): Promise<Scene> {
  const root = await mkdtemp(join(await scratch(), "svc-probe-"));
  const scene: Scene = {
    root,
    hidden: join(root, "hidden"),
    canary: randomUUID(),
    outside: join(root, "outside"),
    note: join(workspace, `.svc-probe-${randomUUID()}`),
  };
  await chmod(root, 0o755);
  await mkdir(scene.hidden, { mode: 0o755 });
  await mkdir(scene.outside);
  await chmod(scene.outside, 0o777); // whatever the umask is
  await writeFile(join(scene.hidden, "canary"), `${scene.canary}\n`, { mode: 0o644 });
  return scene;
}

/** Rather not /tmp: many sandboxes have one of their own, and that alone would hide everything. */
const scratch = async (): Promise<string> => {
  const found = process.platform === "linux" && (await lstat("/var/tmp").catch(() => undefined))?.isDirectory();
  return found ? "/var/tmp" : tmpdir();
};

interface Listener {
  readonly server: Server;
  readonly port: number;
  readonly seen: { connections: number };
}

/** On loopback, where every command could reach it that has the network. */
function listen(): Promise<Listener> {
  const seen = { connections: 0 };
  const server = createServer((socket) => {
    seen.connections += 1;
    socket.on("error", () => undefined).destroy();
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", () => {
      resolve({ server, port: (server.address() as { port: number }).port, seen });
    });
  });
}

/** Every attempt fails in silence but for what it got hold of. Last it says that it came to its end. */
const lineOf = ({ hidden, outside, note }: Scene, port: number | undefined, offline: string): string =>
  [
    `{ echo here >${shellWord(note)}`,
    `read -r got <${shellWord(join(hidden, "canary"))}; echo "got $got"`,
    `echo out >${shellWord(join(outside, "new"))}`,
    ...(port === undefined
      ? []
      : [`[ -x /bin/bash ] && /bin/bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}'`, `echo "network $(${offline})"`]),
    `echo ended; } 2>/dev/null`,
  ].join("\n");

async function objection(scene: Scene, { user }: Confinement, result: ExecResult): Promise<string | undefined> {
  if (result.stdout.includes(scene.canary)) return "a command could read a folder that is to be hidden";
  if ((await readdir(scene.outside)).length > 0) return "a command could write outside of the workspace";
  if (result.timedOut) return "a command did not come to its end";
  if (!result.stdout.endsWith("ended\n")) return "it runs no command";
  const note = await lstat(scene.note).catch(() => undefined);
  if (!note) return "a command could not write in the workspace";
  if (user && note.uid !== user.uid) return "commands run as another user than they should";
  return undefined;
}

function networkObjection(result: ExecResult, listener: Listener | undefined): string | undefined {
  if (!listener) return undefined;
  if (listener.seen.connections > 0) return "a command could reach the network, which is off";
  return result.stdout.includes("network offline\n") ? undefined : "the network could not be seen to be off";
}

/** What a backend's `probe` says of a proof that did not come to its end. */
export const reasonOf = (error: unknown): string =>
  error instanceof SvcError ? error.message.replace(/\.$/, "") : "its check failed";
