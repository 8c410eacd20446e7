/** Chooses the engine, its image and the workarounds that this machine needs, by trying one command. */
import { type Confinement, SvcError } from "@svc/contract";
import { ask, type Engine, type EngineName, ENGINES, type Environment, findEngine } from "./engine.ts";
import { stricterProfile } from "./seccomp-profile.ts";
import { PLAIN, nextTry, type Workarounds } from "./workarounds.ts";

export interface Settled {
  readonly engine: Engine;
  /** The image's id: later its name may mean another image. */
  readonly image: string;
  /** The engine runs as an ordinary user: root in the container is that user outside. */
  readonly isRootless: boolean;
  readonly workarounds: Workarounds;
  /** The seccomp profile, as JSON. Undefined: the engine's own. */
  readonly profile: string | undefined;
}

export interface Settling {
  readonly image: string;
  readonly environment: Environment;
  readonly signal: AbortSignal;
  /** Runs a command that does nothing. Undefined: it ran. Otherwise what the engine printed. */
  tryOut(settled: Settled): Promise<string | undefined>;
}

/** Throws SANDBOX_UNAVAILABLE with what is missing. */
export async function settle(settling: Settling): Promise<Settled> {
  const reasons: string[] = [];
  for (const name of ENGINES) {
    const engine = await findEngine(name, settling.environment);
    const found = engine ? await settleOn(engine, settling) : undefined;
    if (typeof found === "object") return found;
    if (found !== undefined) reasons.push(found);
  }
  const why = reasons.length > 0 ? reasons.join("; ") : "neither podman nor docker is installed: install one of them";
  throw unavailable(`${why.charAt(0).toUpperCase()}${why.slice(1)}.`);
}

export const unavailable = (message: string): SvcError => new SvcError("SANDBOX_UNAVAILABLE", message);

/** Refuses a user that this process can't run commands as. Throws SANDBOX_UNAVAILABLE. */
export function refuseOthers({ user }: Confinement): void {
  const uid = process.getuid?.();
  if (uid === undefined) throw unavailable("The container backend is not for this system.");
  if (user && uid !== 0 && user.uid !== uid) throw unavailable("Only root can run commands as another user.");
}

/** A text is the reason why this engine can't be used, as part of a sentence. */
async function settleOn(engine: Engine, { image: wanted, signal, tryOut }: Settling): Promise<Settled | string> {
  const { name } = engine;
  const inspected = await ask(engine, ["image", "inspect", "--format={{.Id}}", wanted], signal);
  if (inspected.exitCode !== 0) {
    return MISSING.test(inspected.stderr)
      ? missingImage(name, wanted)
      : `${name} does not answer: is it set up for this user?`;
  }
  const image = inspected.stdout.trim();
  if (!/^(sha256:)?[0-9a-f]{64}$/.test(image)) return `${name} does not answer as it should`;
  const isRootless = await isOfUser(engine, signal);
  const profile = await stricterProfile(engine);
  for (let workarounds = PLAIN; ;) {
    const settled = { engine, image, isRootless, workarounds, profile };
    const said = await tryOut(settled);
    if (said === undefined) return settled;
    const next = await nextTry(said, engine, workarounds);
    if (next === undefined) return reasonOf(said, name);
    workarounds = next;
  }
}

const MISSING = /no such image|image not known|not found/i;

function missingImage(engine: EngineName, image: string): string {
  const named = image.startsWith("debian:") ? image : "and the name in security.sandbox.container_image";
  return `${engine} has no such image, and none is fetched by itself: get it with ${engine} pull ${named}, or make one with ${engine} import`;
}

async function isOfUser(engine: Engine, signal: AbortSignal): Promise<boolean> {
  if (engine.name === "podman") return process.getuid?.() !== 0;
  const { stdout } = await ask(engine, ["info", "--format={{json .SecurityOptions}}"], signal);
  return stdout.includes("name=rootless");
}

function reasonOf(said: string, engine: EngineName): string {
  if (/subuid|subgid|newuidmap|newgidmap/i.test(said)) {
    return `${engine} has no user ids to give out: install uidmap, and give this user a range in /etc/subuid and /etc/subgid`;
  }
  if (/\/bin\/sh/.test(said)) return "the image has no /bin/sh that this user can start, which commands need";
  return `${engine} starts no container here: try ${engine} run by hand`;
}
