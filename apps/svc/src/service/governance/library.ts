/** The procedures of the default agent's workspace. */
import { join, resolve } from "node:path";
import { CORE_PATHS } from "@svc/gateway/core-paths";
import { DEFAULT_AGENT, type LoadedConfig, resolveAgents, systemClock } from "@svc/kernel";
import { type CheckedSop, createLibrary, type LibraryOptions, type SopLibrary } from "@svc/sop";
import type { ServiceContext } from "../context.ts";

type Folders = Pick<ServiceContext, "home">;

/** Read once already. `config`: the one in force. */
export async function openLibrary(
  { home, log }: Pick<ServiceContext, "home" | "log">,
  config: () => LoadedConfig,
): Promise<SopLibrary> {
  const library = createLibrary({ log, clock: systemClock, ...libraryRules({ home }, config) });
  await library.reload();
  return library;
}

export const libraryRules = (
  { home }: Folders,
  config: () => LoadedConfig,
): Pick<LibraryOptions, "folder" | "defaultMode" | "reserved"> => ({
  folder: () => proceduresFolder(home, config()),
  defaultMode: () => config().core.sop.default_execution_mode,
  reserved: () => RESERVED,
});

/** All of them, with what is wrong or strange. `tools`: where it is known which there are. */
export async function checkProcedures(
  { home }: Folders,
  config: LoadedConfig,
  tools?: readonly string[],
): Promise<readonly CheckedSop[]> {
  const { folder, defaultMode, reserved } = libraryRules({ home }, () => config);
  const known = { nowMs: systemClock.now(), agents: [...resolveAgents(config.core).keys()], ...(tools && { tools }) };
  const { checkSops } = await import("@svc/sop/check");
  return checkSops(folder(), { defaultMode: defaultMode(), reserved: reserved(), known });
}

/** Requests to /webhook are events too, beside the turn that they are. Of a pattern, all that is below it. */
const RESERVED = CORE_PATHS.filter((path) => path !== "/webhook").map((path) => path.split("{", 1)[0]!);

function proceduresFolder(home: Folders["home"], { core }: LoadedConfig): string {
  const { workspace = home.workspace } = resolveAgents(core).get(DEFAULT_AGENT)!;
  return join(resolve(home.root, workspace), "sops");
}
