/** The program that runs containers: podman or docker, by its command line. */
import { spawn } from "node:child_process";
import type { ExecResult } from "@svc/contract";
import { findProgram, runProcess } from "@svc/kit/process";

export interface Engine {
  readonly name: EngineName;
  /** Absolute path. */
  readonly file: string;
  /** What it needs of the daemon's environment. Nothing of it is seen in a container. */
  readonly env: Readonly<Record<string, string>>;
}

export const ENGINES = ["podman", "docker"] as const;
export type EngineName = (typeof ENGINES)[number];

export type Environment = Readonly<Record<string, string | undefined>>;

export async function findEngine(name: EngineName, environment: Environment): Promise<Engine | undefined> {
  const file = await findProgram(name, environment["PATH"]);
  if (file === undefined) return undefined;
  const known = Object.entries(environment).filter(([key, value]) => value !== undefined && NEEDED.test(key));
  return { name, file, env: Object.fromEntries(known) as Record<string, string> };
}

/** Where its programs, its settings and its service are. */
const NEEDED =
  /^(PATH|HOME|USER|LOGNAME|XDG_.*|TMPDIR|DBUS_SESSION_BUS_ADDRESS|DOCKER_.*|CONTAINER_.*|CONTAINERS_.*|PODMAN_.*)$/;

/** Runs one of its commands to the end. */
export function ask(
  engine: Engine,
  args: readonly string[],
  signal: AbortSignal = new AbortController().signal,
): Promise<ExecResult> {
  return runProcess({
    // Without the mark: podman leaves a process behind on purpose, which puts the container away.
    start: () =>
      spawn(engine.file, args, { cwd: "/", env: engine.env, stdio: ["ignore", "pipe", "pipe"], detached: true }),
    stdin: undefined,
    timeoutMs: LONGEST_MS,
    maxOutputBytes: 65_536,
    signal,
    graceMs: 1000,
    clock: undefined,
  });
}

/** A service that does not answer is none. */
const LONGEST_MS = 8_000;
