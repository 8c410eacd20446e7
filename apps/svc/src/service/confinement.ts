/** How the commands of an agent are to be confined: as whom, in which workspace. The daemon, doctor and setup ask it here. */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { commandUser, confinementOf, movablePath, workspaceRoot } from "@svc/agent";
import { type Home, type LoadedConfig, resolveAgents, type ResolvedAgent } from "@svc/config";
import type { Confinement } from "@svc/contract";
import { givePath, makeScratch } from "@svc/kit/files";

export interface AgentConfinement {
  readonly confinement: Confinement;
  /** Why no sandbox can be used in this workspace. */
  readonly obstacle: string | undefined;
}

/** Makes the workspace, and gives one of root's in `$SVC_HOME` to whom its commands run as where anything is to confine them. */
export async function confinementOfAgent(
  home: Home,
  config: LoadedConfig,
  agent: Pick<ResolvedAgent, "workspace">,
  { confines }: { readonly confines: boolean },
): Promise<AgentConfinement> {
  const workspace = await workspaceRoot(workspaceFolder(home, agent));
  const { user, handsOver, obstacle } = await commandUser(workspace, await real(home.root));
  if (confines && handsOver && user) await givePath(workspace, user);
  return {
    confinement: confined(home, config, workspace, user),
    obstacle: obstacle ?? (await movable(home, config, agent)),
  };
}

/** Whether anything is to confine commands, as far as the config goes. */
export const isToConfine = (config: LoadedConfig): boolean => {
  const { enabled, backend } = config.core["security.sandbox"];
  return enabled && backend !== "none";
};

/**
 * The same of the default agent for a trial that must not change anything: a workspace that is not there yet, or not handed over,
 * is stood in for by an empty folder.
 */
export async function trialConfinement(
  home: Home,
  config: LoadedConfig,
): Promise<AgentConfinement & { dispose(): Promise<void> }> {
  const [agent] = resolveAgents(config.core).values();
  const root = await real(home.root);
  const found = await realpath(workspaceFolder(home, agent!)).catch(() => undefined);
  const { user, handsOver, ...of } = await commandUser(found ?? workspaceFolder({ ...home, root }, agent!), root);
  const obstacle = of.obstacle ?? (await movable(home, config, agent!));
  if (found !== undefined && !handsOver) {
    return { confinement: confined(home, config, found, user), obstacle, dispose: async () => {} };
  }
  const standIn = await makeScratch({ prefix: "svc-trial-", owner: user });
  return { confinement: confined(home, config, standIn.path, user), obstacle, dispose: standIn.dispose };
}

const movable = (
  home: Home,
  config: LoadedConfig,
  agent: Pick<ResolvedAgent, "workspace">,
): Promise<string | undefined> =>
  movablePath({
    workspace: workspaceFolder(home, agent),
    workspaces: [...resolveAgents(config.core).values()].map((each) => workspaceFolder(home, each)),
    readable: config.core["security.sandbox"].readable,
    writable: config.core["security.sandbox"].writable,
    hidden: hiddenPaths(home, config),
  });

const confined = (home: Home, config: LoadedConfig, workspace: string, user: Confinement["user"]): Confinement =>
  confinementOf({
    config: config.core["security.sandbox"],
    workspace,
    hidden: hiddenPaths(home, config),
    user,
  });

const real = (path: string): Promise<string> => realpath(path).catch(() => path);

/** Where an agent works. Not resolved against the working directory: a daemon and `svc tools run` in another folder would have two workspaces. */
export const workspaceFolder = (home: Home, agent: Pick<ResolvedAgent, "workspace">): string =>
  resolve(home.root, agent.workspace ?? home.workspace);

/** What commands must not see. The config may lie elsewhere (--config), and it holds secrets. */
export const hiddenPaths = (home: Home, { file }: LoadedConfig): string[] => [home.root, file];
