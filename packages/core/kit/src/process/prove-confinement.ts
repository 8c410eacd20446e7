/** The probe of every sandbox: hostile commands run inside it and must fail. A backend's own claim does not count. */
import { randomUUID } from "node:crypto";
import { chmod, lstat, writeFile } from "node:fs/promises";
import { type AddressInfo, BoundSocket, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Confinement, type ExecResult, type SandboxBackend, SvcError } from "@svc/contract";
import { isEmpty, makeScratch, openPath, removePath } from "../files/index.ts";
import { shellWord } from "./descriptors.ts";

export interface ConfinementProof {
  readonly open: SandboxBackend["open"];
  /** The requested confinement, without the limits that the backend can't enforce. */
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
  const { signal, confinement } = proof;
  signal.throwIfAborted();
  await using scene = await setScene(confinement);
  await using listener = confinement.network ? undefined : await listen();
  const session = await proof.open({ ...confinement, hidden: [...confinement.hidden, scene.hidden] });
  let result: ExecResult;
  try {
    const command = lineOf(scene, listener?.port, proof.offline);
    // Other users of the machine can read a command line, and connect to a port; they can't read standard input.
    result = await session.exec({ command, stdin: `${listener?.token ?? ""}\n`, signal, timeoutMs: LONGEST_MS });
  } finally {
    await session.close();
  }
  return (await objection(scene, confinement, result)) ?? (await networkObjection(result, listener));
}

const LONGEST_MS = 9_000;

interface Scene extends AsyncDisposable {
  /** A folder with a canary in it, which the user of the commands may read. */
  readonly hidden: string;
  readonly canary: string;
  /** An empty folder, which the user of the commands may write. */
  readonly outside: string;
  /** Name of a file in the workspace. */
  readonly note: string;
  readonly workspace: string;
}

/** No other user can enter the folders: a file that one wrote there would turn the sandbox off. */
async function setScene({ workspace, user }: Confinement): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const options = { prefix: "svc-probe-", parent: await scratchParent(), owner: user };
  const hidden = stack.use(await makeScratch(options));
  const outside = stack.use(await makeScratch(options));
  const canary = randomUUID();
  const file = join(hidden.path, "canary");
  await writeFile(file, `${canary}\n`, { flag: "wx" });
  await chmod(file, 0o644); // independent of the umask
  const note = `.svc-probe-${randomUUID()}`;
  stack.defer(async () => void (await removePath(join(workspace, note))));
  const made = stack.move();
  return {
    hidden: hidden.path,
    canary,
    outside: outside.path,
    note,
    workspace,
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
}

/** Rather not /tmp: many sandboxes have one of their own, and that alone would hide everything. */
const scratchParent = async (): Promise<string> => {
  const found = process.platform === "linux" && (await lstat("/var/tmp").catch(() => undefined))?.isDirectory();
  return found ? "/var/tmp" : tmpdir();
};

interface Listener extends AsyncDisposable {
  readonly port: number;
  /** What the command says when it connects. Any other program of the machine may connect too, and proves nothing. */
  readonly token: string;
  /** Whether the command connected before this call. */
  reached(): Promise<boolean>;
}

/** On loopback, where every command could reach it that has the network. */
async function listen(): Promise<Listener> {
  const token = randomUUID();
  const lastToken = randomUUID();
  const last = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  let isReached = false;
  const server = createServer((socket) => {
    let said = "";
    sockets.add(socket);
    socket.setEncoding("latin1").on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
    socket.on("data", (text: string) => {
      said += text;
      if (said.startsWith(token)) isReached = true;
      if (said.startsWith(lastToken)) last.resolve();
      if (said.length >= token.length) socket.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(new BoundSocket({ host: "127.0.0.1" }), resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    token,
    async reached() {
      // Connections are accepted in their order: behind our own one, nothing of the command is on its way any more.
      connect(port, "127.0.0.1").on("error", last.reject).end(lastToken);
      await last.promise;
      await new Promise((resolve) => setImmediate(resolve));
      return isReached;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Each attempt prints only what it got. The last command prints that the script reached its end. */
const lineOf = ({ hidden, outside, workspace, note }: Scene, port: number | undefined, offline: string): string =>
  [
    `{ read -r SVC_TOKEN; export SVC_TOKEN; echo here >${shellWord(join(workspace, note))}`,
    `read -r got <${shellWord(join(hidden, "canary"))}; echo "got $got"`,
    `echo out >${shellWord(join(outside, "new"))}`,
    ...(port === undefined
      ? []
      : [
          `[ -x /bin/bash ] && /bin/bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port} && echo "$SVC_TOKEN" >&3'`,
          `echo "network $(${offline})"`,
        ]),
    `echo ended; } 2>/dev/null`,
  ].join("\n");

async function objection(scene: Scene, { user }: Confinement, result: ExecResult): Promise<string | undefined> {
  await using outside = await openPath(scene.outside);
  if (result.stdout.includes(scene.canary)) return "a command could read a folder that is to be hidden";
  if (!(await isEmpty(outside))) return "a command could write outside of the workspace";
  if (result.timedOut) return "a command did not come to its end";
  if (!result.stdout.endsWith("ended\n")) return "it runs no command";
  const note = await lstat(join(scene.workspace, scene.note)).catch(() => undefined);
  if (!note) return "a command could not write in the workspace";
  if (user && note.uid !== user.uid) return "commands run as another user than they should";
  return undefined;
}

async function networkObjection(result: ExecResult, listener: Listener | undefined): Promise<string | undefined> {
  if (!listener) return undefined;
  if (await listener.reached()) return "a command could reach the network, which is off";
  return result.stdout.includes("network offline\n") ? undefined : "the network could not be seen to be off";
}

/** What a backend's `probe` says of a proof that did not come to its end. */
export const reasonOf = (error: unknown): string =>
  error instanceof SvcError ? error.message.replace(/\.$/, "") : "its check failed";
