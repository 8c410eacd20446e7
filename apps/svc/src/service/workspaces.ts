/** The workspaces of all agents. */
import type { Workspace } from "@svc/contract";
import type { Generation } from "./generation.ts";

export const workspacesOf = ({ agents }: Generation): Workspace[] =>
  [...agents.profiles.values()].map(({ environment }) => environment.workspace);
