/** Where an agent works, and what its commands must not see. */
import { resolve } from "node:path";
import type { Home, LoadedConfig, ResolvedAgent } from "@svc/config";

/** Not against the working directory: a daemon and `svc tools run` in another folder would have two workspaces. */
export const workspaceFolder = (home: Home, agent: Pick<ResolvedAgent, "workspace">): string =>
  resolve(home.root, agent.workspace ?? home.workspace);

/** The config may lie elsewhere (--config), and it holds secrets. */
export const hiddenPaths = (home: Home, { file }: LoadedConfig): string[] => [home.root, file];
