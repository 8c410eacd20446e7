/** The profile of one confinement. */
import { dirname } from "node:path";
import type { Confinement } from "@svc/contract";
import { ALWAYS_HIDDEN, FOR_NETWORK, FOR_PROGRAMS } from "./programs.ts";
import { allow, deny, literal, subpath } from "./sbpl.ts";

export interface Profiled extends Pick<Confinement, "workspace" | "network" | "readable" | "writable" | "hidden"> {
  /** A temporary folder of the session's own. */
  readonly temporary: string;
}

/** All paths are real ones. Rules come from the general to the special: of those that match, the last one holds. */
export function profileOf({ workspace, network, readable, writable, hidden, temporary }: Profiled): string {
  const secret = [...ALWAYS_HIDDEN, ...hidden.filter((path) => path !== workspace)];
  const inWorkspace = secret.filter((path) => isBelow(path, workspace));
  const around = [...readable, ...writable, temporary, workspace].flatMap(above);
  return [
    "(version 1)",
    "(deny default)",
    ...FOR_PROGRAMS,
    ...(network ? FOR_NETWORK : []),
    ...readable.map((path) => allow("file-read*", subpath(path))),
    ...[...writable, temporary].map(open),
    ...secret.map(hide),
    // It may lie in something hidden, and something hidden in it.
    open(workspace),
    ...inWorkspace.map(hide),
    // Resolving the path of a folder reads the metadata of its parents.
    allow("file-read-metadata", ...[...new Set(around)].map(literal)),
    "",
  ].join("\n");
}

const open = (path: string): string => allow("file-read* file-write*", subpath(path));
const hide = (path: string): string => deny("file-read* file-write*", subpath(path));

const isBelow = (path: string, folder: string): boolean => path.startsWith(folder === "/" ? "/" : `${folder}/`);

function above(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...above(parent), parent];
}
