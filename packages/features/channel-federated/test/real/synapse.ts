/**
 * A Synapse of the test's own, and people with matrix-nio. Debian has Synapse in sid alone: both run in a system of their own, in a mount
 * namespace that leaves nothing behind. Where it is missing, the test is skipped and says so.
 */
import { type MissingPart, requireReal } from "@svc/testkit/require-real";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { TestContext } from "vitest";

/** `.ci/run` makes it. */
const TREE = process.env["SVC_SYNAPSE_TREE"] ?? "/srv/sid";
const PROGRAMS = ["usr/bin/synapse_register_new_matrix_user", "usr/lib/python3/dist-packages/nio"];
const LONGEST_START_MS = 300_000;
const POLL_MS = 50;

const run = promisify(execFile);

/** Why it is missing; undefined: it can be started. */
export function missingSynapse(): MissingPart | undefined {
  const name = "Matrix Synapse";
  if (process.getuid?.() !== 0) return { name, reason: "its system is entered as root only", tier: "B" };
  if (PROGRAMS.every((path) => existsSync(join(TREE, path)))) return undefined;
  const make = `mmdebstrap --variant=apt --include=matrix-synapse,python3-matrix-nio sid ${TREE}`;
  return { name, reason: `no Synapse and matrix-nio in ${TREE}; as root: apt-get install mmdebstrap, ${make}` };
}

export function demandSynapse(context: Pick<TestContext, "skip">): void {
  const missing = missingSynapse();
  if (missing) requireReal(context, missing);
}

/** What it starts takes its place, so that signals reach that. */
function inTree(command: string): [program: string, args: string[]] {
  const script = 'mount -t proc proc "$0/proc" && exec chroot "$0" sh -c "$1"';
  return ["unshare", ["--mount", "sh", "-c", script, TREE, command]];
}

export interface Synapse extends AsyncDisposable {
  readonly url: string;
  /** Registers an account. */
  register(name: string): Promise<{ readonly userId: string; readonly password: string }>;
  restart(): Promise<void>;
  person(name: string): Promise<Person>;
}

const LIMITS = [
  "trusted_key_servers: []",
  "suppress_key_server_warning: true",
  ...["rc_message", "rc_registration"].map((name) => `${name}: {per_second: 10000, burst_count: 10000}`),
  "rc_login: {address: {per_second: 10000, burst_count: 10000}, account: {per_second: 10000, burst_count: 10000}, failed_attempts: {per_second: 10000, burst_count: 10000}}",
  "rc_joins: {local: {per_second: 10000, burst_count: 10000}}",
  "rc_invites: {per_room: {per_second: 10000, burst_count: 10000}, per_user: {per_second: 10000, burst_count: 10000}}",
];

export async function startSynapse(): Promise<Synapse> {
  mkdirSync(join(TREE, "tmp"), { recursive: true });
  const folder = mkdtempSync(join(TREE, "tmp/synapse-"));
  const inside = folder.slice(TREE.length);
  const port = await freePort();
  const config = `${inside}/homeserver.yaml`;
  const app = (args: string): string => `cd ${inside} && exec python3 -m synapse.app.homeserver ${args}`;
  const generate = `--server-name=hs.test --config-path=${config} --generate-config --report-stats=no`;
  await run(...inTree(app(generate)));
  const file = join(folder, "homeserver.yaml");
  writeFileSync(
    file,
    readFileSync(file, "utf8")
      .replace(/port: 8008/, `port: ${port}`)
      .replace(/- ::1\n/, "")
      .replaceAll(/^trusted_key_servers:\n.*\n/gm, ""),
  );
  appendFileSync(file, `${LIMITS.join("\n")}\n`);
  const secret = /registration_shared_secret: "(.*)"/.exec(readFileSync(file, "utf8"))?.[1] ?? "";
  const url = `http://127.0.0.1:${port}`;
  let server: ChildProcess;
  const start = async (): Promise<void> => {
    server = spawn(...inTree(app(`-c ${config}`)), { stdio: "ignore" });
    await eventually(async () => (await fetch(`${url}/_matrix/client/versions`)).ok, LONGEST_START_MS);
  };
  const stop = async (): Promise<void> => {
    const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()));
    server.kill("SIGTERM");
    await ended;
  };
  await start();
  const people: Person[] = [];
  const register: Synapse["register"] = async (name) => {
    const at = `${url}/_synapse/admin/v1/register`;
    const { nonce } = (await (await fetch(at)).json()) as { nonce: string };
    const password = `pw-${name}`;
    const mac = createHmac("sha1", secret).update([nonce, name, password, "notadmin"].join("\0")).digest("hex");
    const body = JSON.stringify({ nonce, username: name, password, admin: false, mac });
    const answer = await fetch(at, { method: "POST", body });
    if (!answer.ok) throw new Error(`registration: ${await answer.text()}`);
    return { userId: `@${name}:hs.test`, password };
  };
  return {
    url,
    register,
    async restart() {
      await stop();
      await start();
    },
    async person(name) {
      const { userId, password } = await register(name);
      const store = `nio-${name}`;
      mkdirSync(join(folder, store));
      copyFileSync(join(import.meta.dirname, CLIENT), join(folder, CLIENT));
      const words = [url, userId, password, `${inside}/${store}`].map((word) => `'${word}'`);
      const person = await startPerson(userId, `exec python3 ${inside}/${CLIENT} ${words.join(" ")}`);
      people.push(person);
      return person;
    },
    async [Symbol.asyncDispose]() {
      for (const person of people) await person[Symbol.asyncDispose]();
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Heard = Readonly<Record<string, unknown>> & { readonly event: string };

export interface Person extends AsyncDisposable {
  readonly userId: string;
  readonly deviceId: string;
  readonly heard: readonly Heard[];
  /** Throws what the client says went wrong. */
  does(what: string, more?: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
}

const CLIENT = "nio-client.py";

async function startPerson(userId: string, command: string): Promise<Person> {
  const child = spawn(...inTree(command), { stdio: ["pipe", "pipe", "inherit"] });
  const heard: Heard[] = [];
  const answers = new Map<number, (answer: Readonly<Record<string, unknown>>) => void>();
  let asked = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const said = JSON.parse(line) as Record<string, unknown>;
    if (typeof said["event"] === "string") heard.push(said as Heard);
    else answers.get(said["id"] as number)?.(said);
  });
  await eventually(() => heard.some(({ event }) => event === "ready"), LONGEST_START_MS);
  return {
    userId,
    get deviceId() {
      return String(heard.find(({ event }) => event === "ready")?.["device"]);
    },
    heard,
    async does(what, more = {}) {
      const id = (asked += 1);
      const answer = new Promise<Readonly<Record<string, unknown>>>((resolve) => answers.set(id, resolve));
      child.stdin.write(`${JSON.stringify({ id, do: what, ...more })}\n`);
      const { error, ...rest } = await answer;
      if (error !== undefined) throw new Error(String(error));
      return rest;
    },
    async [Symbol.asyncDispose]() {
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Throws when it does not come true: only what hangs takes so long. */
export async function eventually(isSo: () => boolean | Promise<boolean>, limitMs = 60_000): Promise<void> {
  for (const untilMs = Date.now() + limitMs; ;) {
    if (await Promise.resolve(isSo()).catch(() => false)) return;
    if (Date.now() > untilMs) throw new Error(`it does not come true: ${isSo.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
