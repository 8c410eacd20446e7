/**
 * libatomic, which Node needs and a small Linux lacks. svc runs, so it was found; found through a variable of this shell, it
 * will be missing where the service manager starts svc.
 */
import { readFile } from "node:fs/promises";
import { type Finding, ok, warning } from "../finding.ts";
import type { Check } from "./check.ts";

export const libatomic: Check = {
  id: "libatomic",
  async find() {
    if (process.platform !== "linux") return [];
    return libatomicFindings(await readFile("/proc/self/maps", "utf8").catch(() => ""));
  },
};

/** `maps`: what the process has mapped. */
export function libatomicFindings(maps: string): Finding[] {
  const path = /\s(\/\S*\/libatomic\.so\S*)/.exec(maps)?.[1];
  if (path === undefined) return [];
  if (/^\/(?:usr\/)?(?:local\/)?lib(?:32|64)?\//.test(path)) return [ok("libatomic", "libatomic is installed.")];
  const message = "libatomic comes from a place that only this shell knows.";
  return [warning("libatomic", message, "install libatomic1 (Debian, Ubuntu) or libatomic (Fedora, Alpine)")];
}
