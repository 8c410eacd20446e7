/** The procedures of the default agent's workspace. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { CORE_PATHS } from "@svc/gateway/core-paths";
import { DEFAULT_AGENT, type LoadedConfig, resolveAgents } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { type CheckedSop, createLibrary, type LibraryOptions, PENDING, rulesOf, type SopLibrary } from "@svc/sop";
import type { ServiceContext } from "../context.ts";

type Folders = Pick<ServiceContext, "home">;

/** Read once already. `config`: the one in force. */
export async function openLibrary(
  { home, log }: Pick<ServiceContext, "home" | "log">,
  config: () => LoadedConfig,
): Promise<SopLibrary> {
  const rules = libraryRules({ home }, config);
  if (existsSync(join(rules.folder(), PENDING))) {
    const { finishChanges } = await import("./sop-author.ts");
    await finishChanges(home, config(), rules.folder()).catch((error: unknown) => {
      const { code } = error as NodeJS.ErrnoException;
      log.warn("a change of procedures is in force, but can't be written to their files", { code });
    });
  }
  const library = createLibrary({ log, clock: systemClock, ...rules });
  await library.reload();
  return library;
}

export const libraryRules = (
  { home }: Folders,
  config: () => LoadedConfig,
): Pick<LibraryOptions, "folder" | "defaultMode" | "reserved" | "toolPairs"> => ({
  folder: () => proceduresFolder(home, config()),
  defaultMode: () => config().core.sop.default_execution_mode,
  reserved: () => RESERVED,
  toolPairs: () => config().toolPairs,
});

/** All of them, with what is wrong or strange. `tools`: where it is known which there are. */
export async function checkProcedures(
  { home }: Folders,
  config: LoadedConfig,
  tools?: readonly string[],
): Promise<readonly CheckedSop[]> {
  const rules = libraryRules({ home }, () => config);
  const known = { nowMs: systemClock.now(), agents: [...resolveAgents(config.core).keys()], ...(tools && { tools }) };
  const { checkSops } = await import("@svc/sop/check");
  return checkSops(rules.folder(), { ...rulesOf(rules), known });
}

/** Requests to /webhook are events too, beside the turn that they are. Of a pattern, all that is below it. */
const RESERVED = CORE_PATHS.filter((path) => path !== "/webhook").map((path) => path.split("{", 1)[0]!);

function proceduresFolder(home: Folders["home"], { core }: LoadedConfig): string {
  const { workspace = home.workspace } = resolveAgents(core).get(DEFAULT_AGENT)!;
  return join(resolve(home.root, workspace), "sops");
}
