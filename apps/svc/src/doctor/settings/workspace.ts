/** The home and the workspaces apart: what the agent may write must not be what the service runs on. */
import { isAbsolute, relative, sep } from "node:path";
import { error, type Finding, ok } from "../finding.ts";
import type { Settings } from "./settings.ts";

export function workspaceFindings({ home, workspaces }: Settings): Finding[] {
  const own = [home.stateDir, home.runDir, home.logsDir, home.config, home.secretKey];
  return [...workspaces].map(([name, root]) => {
    const overlaps = contains(root, home.root) || own.some((path) => contains(path, root) || contains(root, path));
    return overlaps
      ? error(
          "workspace",
          `The workspace of the agent ${name} holds the service's own files.`,
          "choose a folder of its own in workspace.path or agents.<name>.workspace, or another SVC_HOME",
        )
      : ok("workspace", `The workspace of the agent ${name} is apart from the service's files.`);
  });
}

/** Also when both are the same. */
function contains(outer: string, inner: string): boolean {
  const path = relative(outer, inner);
  return !isAbsolute(path) && path !== ".." && !path.startsWith(`..${sep}`);
}
