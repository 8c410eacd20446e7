/** Every check of `svc doctor`, in the order they are shown. */
import { constants } from "node:fs";
import { access, lstat, stat, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { formatProblems, listSecrets, variableName, walkSchema } from "@svc/config";
import { logFilePath } from "@svc/runtime";
import type { CheckedSop } from "@svc/sop";
import type { Device } from "@svc/store";
import type { Check } from "./machine.ts";
import { config, configInForce, database, fileModes, homeFolder, keyFile, size } from "./home.ts";
import { daemon, features, forwarding, lockedMessages, version } from "./daemon.ts";
import { localPaths, probe, proxyHeaders, publicUrl } from "./public-url.ts";
import { settings } from "./settings.ts";
import { error, type Finding, note, ok, warning } from "../finding.ts";
import { DOCTOR_PART } from "../../binary/self-command.ts";
import { counted } from "../settings/exposure.ts";

/** Who holds a key to this service: devices with their tokens, pages that are signed in, codes that were not used yet. */
const IDLE_MS = 90 * 86_400_000;

const devices: Check = {
  id: "devices",
  security: true,
  async find(machine) {
    const paired = await machine.paired();
    if (paired === undefined) return [warning("devices", "It could not be read who is paired.", "svc devices list")];
    const { pageSessions, secretCounts } = paired;
    // One line each in its index; the keys themselves are kept with their devices.
    const passkeys = secretCounts.get("webauthn") ?? 0;
    return [
      ...(paired.devices.length === 0 ? [ok("devices", "No device is paired.")] : paired.devices.map(deviceLine)),
      ...idleTokens(paired.devices, machine.clock.now()),
      ok("page-sessions", `${counted(pageSessions, "page is", "pages are")} signed in.`),
      ...(passkeys > 0 ? [ok("passkeys", `${counted(passkeys, "passkey is", "passkeys are")} registered.`)] : []),
    ];
  },
};

/** Its id is what `svc devices revoke` takes. */
function deviceLine({ id, name, scope, createdAt, lastSeenAt }: Device): Finding {
  const used = lastSeenAt === undefined ? `never used, paired ${day(createdAt)}` : `last used ${day(lastSeenAt)}`;
  return ok("devices", `${name} (${id.slice(0, 8)}) is ${scope}, ${used}.`);
}

function idleTokens(all: readonly Device[], nowMs: number): Finding[] {
  const operators = all.filter(({ scope }) => scope === "operator");
  if (operators.length === 0) return [];
  const idle = operators.filter(({ createdAt, lastSeenAt }) => nowMs - (lastSeenAt ?? createdAt) > IDLE_MS);
  if (idle.length === 0) return [ok("idle-tokens", "Every operator token was used in the last 90 days.")];
  return idle.map(({ id, name }) =>
    warning("idle-tokens", `The operator token of ${name} was not used for 90 days.`, `svc devices revoke ${id}`),
  );
}

const pairingCodes: Check = {
  id: "pairing-codes",
  security: true,
  async find(machine) {
    const { report } = await machine.daemon();
    if (report === undefined) return [];
    if (report.pairingCodes === 0) return [ok("pairing-codes", "No pairing code is open.")];
    const message = `${counted(report.pairingCodes, "pairing code")} can be used to come in, for ten minutes at most.`;
    return [note("pairing-codes", message, "use it, or wait until it has expired")];
  },
};

/** UTC. */
const day = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

/** The gateway's port: answered by this daemon while it runs, free while none does. */
const gateway: Check = {
  id: "gateway",
  async find(machine, signal) {
    const { status } = await machine.daemon();
    if (status === undefined) return [];
    const answer = await probe(new URL("/health", status.url), signal);
    if (answer.failure !== undefined) {
      return [
        error("gateway", `The gateway does not answer at ${status.url} (${answer.failure}).`, "svc logs --level warn"),
      ];
    }
    if (answer.status === 503)
      return [warning("gateway", "The gateway takes no new work: the daemon stops.", "svc status")];
    return answer.instance === status.instance
      ? [ok("gateway", `The gateway answers at ${status.url}.`)]
      : [error("gateway", `At ${status.url} another program answers.`, "set another gateway.port, then: svc restart")];
  },
};

const port: Check = {
  id: "port",
  async find(machine) {
    const { phase, holder } = await machine.daemon();
    const { config } = await machine.config();
    if (phase !== "stopped" || holder !== undefined || config === undefined) return [];
    const { host, port: number } = config.core.gateway;
    const code = await listeningFails(host, number);
    return [code === undefined ? ok("port", `Port ${number} is free.`) : portFinding(code, number)];
  },
};

function portFinding(code: string, number: number): Finding {
  if (code === "EADDRINUSE") {
    return error("port", `Port ${number} is in use by another program.`, "stop it, or set another gateway.port");
  }
  if (code === "EACCES") {
    return error("port", `This user may not listen on port ${number}.`, "set gateway.port to 1024 or more");
  }
  return error("port", `gateway.host is no address of this machine (${code}).`, 'set gateway.host = "127.0.0.1"');
}

/** Listens for a moment, as the daemon will. Resolves with the error's code. */
function listeningFails(host: string, number: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "unknown"));
    server.listen({ host, port: number, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** The disk that the home is on: whether it takes writes, and how much room is left. */
const SCARCE_BYTES = 1_000_000_000;
const NONE_BYTES = 100_000_000;

const disk: Check = {
  id: "disk",
  find: async ({ home: { root } }) => [(await readOnly(root)) ?? spaceFinding(await freeBytes(root), root)],
};

/** What Linux does to a disk with errors. No room that is made helps there. */
async function readOnly(folder: string): Promise<Finding | undefined> {
  const code = await access(folder, constants.W_OK).catch((error: NodeJS.ErrnoException) => error.code);
  if (code !== "EROFS") return undefined;
  return error(
    "disk",
    `${folder} is on a disk that is read-only.`,
    "find out why (dmesg), then remount it for writing",
  );
}

export function spaceFinding(free: number | undefined, folder: string): Finding {
  if (free === undefined) return warning("disk", "It could not be told how much room is left on the disk.", "df");
  const message = `${size(free)} are left on the disk of ${folder}.`;
  if (free >= SCARCE_BYTES) return ok("disk", message);
  return (free < NONE_BYTES ? error : warning)("disk", message, "make room, or lower retention.session_days");
}

/** Of the nearest folder that is there. */
async function freeBytes(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return missing && dirname(folder) !== folder ? freeBytes(dirname(folder)) : undefined;
  }
}

// The clock: signatures, limits, codes and budgets are judged by it.

/** svc was not written before. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);
/** Clocks are set right by moments; nothing is wrong with that. */
const TOLERANCE_MS = 60_000;

const clock: Check = {
  id: "clock",
  async find(machine) {
    const { report } = await machine.daemon();
    return [clockFinding(machine.clock.now(), report?.newestMs ?? (await newestInFile(machine.home.database)))];
  },
};

export function clockFinding(nowMs: number, newestMs: number | undefined): Finding {
  const fix = "set the clock, and let it be kept: timedatectl set-ntp true";
  if (nowMs < EARLIEST_MS || nowMs > LATEST_MS) {
    return error("clock", `The clock shows the year ${new Date(nowMs).getUTCFullYear()}.`, fix);
  }
  if (newestMs !== undefined && newestMs > nowMs + TOLERANCE_MS) {
    return error("clock", "The clock was moved back: the newest conversation is in the future.", fix);
  }
  return ok("clock", "The clock is plausible.");
}

async function newestInFile(file: string): Promise<number | undefined> {
  // Opening a FIFO would wait for a writer for ever.
  const there = await stat(file).catch(() => undefined);
  if (!there?.isFile()) return undefined;
  const { newestTurnMs } = await import("@svc/store");
  return newestTurnMs(file);
}

/** What makes a crash or a mistake of the agent worse than it has to be. */
const root: Check = {
  id: "root",
  security: true,
  async find(machine) {
    const { report } = await machine.daemon();
    const uid = report ? report.uid : process.getuid?.();
    if (uid === undefined) return [];
    if (uid !== 0) return [ok("root", "svc does not run as root.")];
    const who = report ? "The daemon runs" : "svc runs";
    const message = `${who} as root: what breaks out of it has the whole machine.`;
    return [warning("root", message, "svc service install --system --user-name <user>")];
  },
};

const coreDumps: Check = {
  id: "core-dumps",
  security: true,
  async find(machine) {
    const { report } = await machine.daemon();
    if (report?.dumpsCore === undefined) return [];
    if (!report.dumpsCore) return [ok("core-dumps", "A crash writes no memory to the disk.")];
    const message = "A crash of the daemon would write its memory, with every secret in it, to the disk.";
    return [
      warning(
        "core-dumps",
        message,
        "install util-linux, whose prlimit the start uses, or start it after: ulimit -c 0",
      ),
    ];
  },
};

// Variables that look like settings and are none: who sets one believes that it does something.

/** Read by svc beside the keys of the config. */
const OWN: ReadonlySet<string> = new Set(["SVC_HOME", DOCTOR_PART]);

const variables: Check = {
  id: "variables",
  async find(machine) {
    const { features } = await machine.composition();
    const keys = walkSchema(features);
    const named = new Set(keys.map(({ node }) => node.marks.env));
    // Those with two underscores are the config check's: one that fits no key is an error there.
    const idle = Object.keys(machine.context.env).filter(
      (name) => name.startsWith("SVC_") && !name.startsWith("SVC__") && !OWN.has(name) && !named.has(name),
    );
    if (idle.length === 0) return [ok("variables", "No variable is set that svc does not read.")];
    const meant = new Map(keys.map((key) => [flat(variableName(key)), variableName(key)]));
    return idle.map((name) => {
      const variable = meant.get(flat(name));
      return warning(
        "variables",
        `${name} is set, and svc does not read it.`,
        variable ? `set ${variable} instead` : `unset ${name}`,
      );
    });
  },
};

const flat = (name: string): string => name.replaceAll("__", "_");

/** Whether the log can be written. */
const logs: Check = {
  id: "logs",
  async find(machine) {
    const { config } = await machine.config();
    if (config?.core.log.file === false) return [ok("logs", "No log file is kept (log.file = false).")];
    const { logsDir } = machine.home;
    const file = logFilePath(machine.home);
    return [(await unwritable(logsDir, file)) ?? ok("logs", `The log is ${file}.`)];
  },
};

async function unwritable(folder: string, file: string): Promise<Finding | undefined> {
  const stats = await lstat(folder).catch(() => undefined);
  // The daemon makes it.
  if (stats === undefined) return undefined;
  const inFile = await lstat(file).catch(() => undefined);
  if (inFile !== undefined && !inFile.isFile())
    return warning("logs", `${file} is no plain file: no log is kept.`, "move it away");
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    if (inFile) await access(file, constants.W_OK);
    return undefined;
  } catch {
    return warning("logs", `${folder} can't be written: no log is kept.`, "make it writable for the daemon's user");
  }
}

/** The secrets of the config: encrypted where they are to be. Whether they can be read, loading the config tells. */
const secrets: Check = {
  id: "secrets-encrypted",
  async find(machine) {
    const { config, file } = await machine.config();
    if (config === undefined) return [];
    if (!config.core.secrets.encrypt) {
      const { features } = await machine.composition();
      const listed = await listSecrets({ home: machine.home, file, features, env: {} });
      const keys = listed.filter(({ state, highValue }) => highValue && state === "plain").map(({ key }) => key);
      const irrevocable = keys.length === 0 ? "" : ` Anyone who reads ${keys.join(", ")} has that account for good.`;
      const message = `Secrets stand in the config as they are typed (secrets.encrypt = false).${irrevocable}`;
      return [warning("secrets-encrypted", message, "set secrets.encrypt = true, then: svc secrets encrypt")];
    }
    const { features } = await machine.composition();
    // Without the environment: what a variable beats stands in the file all the same.
    const plain = (await listSecrets({ home: machine.home, file, features, env: {} })).filter(
      ({ state }) => state === "plain",
    );
    if (plain.length === 0) return [ok("secrets-encrypted", "No secret stands in plain text in the config.")];
    const keys = plain.map(({ key }) => key).join(", ");
    return [warning("secrets-encrypted", `These secrets stand in plain text: ${keys}.`, "svc secrets encrypt")];
  },
};

/** The procedures of the workspace: whether their files, as they are now, could be loaded. */
const procedures: Check = {
  id: "procedures",
  async find(machine) {
    const checked = await machine.procedures();
    const broken = checked.filter(({ problems }) => problems.length > 0);
    if (broken.length > 0) return broken.map(findingOf);
    return checked.length === 0 ? [] : [ok("procedures", `${checked.length} procedures have no problems.`)];
  },
};

/** The first of them; `svc sop validate` tells all. */
function findingOf({ name, problems: [first, ...others] }: CheckedSop): Finding {
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return warning("procedures", `${formatProblems([first!])}${more}`, `correct it, then: svc sop validate ${name}`);
}

/** Procedures in which outside input causes actions without an approval. */
const trustedInput: Check = {
  id: "trusted-input",
  security: true,
  async find(machine) {
    const { config } = await machine.config();
    if (!config) return [];
    const trusting = (await machine.procedures()).filter(({ definition }) =>
      definition?.steps.some(({ call, requiresConfirmation }) => call?.trustedInput === true && !requiresConfirmation),
    );
    if (trusting.length === 0) return [ok("trusted-input", "No procedure lets what came from outside act unasked.")];
    return trusting.map(({ name }) => {
      const message = `The procedure ${name} lets external input act without an approval (trusted_input).`;
      return warning("trusted-input", message, "give that step requires_confirmation = true instead");
    });
  },
};

export const CHECKS: readonly Check[] = [
  config,
  configInForce,
  secrets,
  variables,
  keyFile,
  homeFolder,
  daemon,
  version,
  gateway,
  port,
  publicUrl,
  forwarding,
  features,
  lockedMessages,
  settings,
  procedures,
  database,
  disk,
  logs,
  clock,
  fileModes,
  proxyHeaders,
  localPaths,
  devices,
  pairingCodes,
  trustedInput,
  root,
  coreDumps,
];
