import { chmod, readFile, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Confinement } from "@svc/contract";
import { makeScratch } from "@svc/kit/files";
import { runArguments } from "./arguments.ts";
import { ask } from "./engine.ts";
import { readReport } from "./inside.ts";
import { PREFIX } from "./leftovers.ts";
import { mountsOf } from "./mounts.ts";
import { profileIn } from "./seccomp-profile.ts";
import type { Settled } from "./settle.ts";

export interface TryOut {
  readonly settled: Settled;
  readonly confinement: Confinement;
  readonly owner: string;
  readonly label: string;
  readonly signal: AbortSignal;
}

/** Runs a command that does nothing, as any other would be. undefined: it ran; else what the engine said. */
export async function tryOut({ settled, confinement, owner, label, signal }: TryOut): Promise<string | undefined> {
  const { engine } = settled;
  await using scratch = await makeScratch({ prefix: `${PREFIX}${owner}-` });
  const folder = scratch.path;
  const name = `${PREFIX}${owner}-${randomUUID()}`;
  const report = join(folder, "report");
  await writeFile(report, "");
  await chmod(report, 0o666); // whatever the umask is
  const seccomp = await profileIn(folder, settled);
  const mounts = await mountsOf(confinement, folder);
  const run = { settled, confinement, mounts, name, labels: [label], report, seccomp };
  const nothing = { words: ["/bin/sh", "-c", ":"], folder: confinement.workspace, env: {}, hasInput: false } as const;
  const { exitCode, stderr } = await ask(engine, runArguments(run, nothing), signal);
  const { ended } = readReport(await readFile(report, "utf8"));
  // A warning would be in the output of every command.
  if (exitCode === 0 && ended && stderr === "") return undefined;
  if (!ended) await ask(engine, ["rm", "--force", "--volumes", name], signal);
  return stderr === "" ? "no answer" : stderr;
}
