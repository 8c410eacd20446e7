/** Where a table's numbers come from: commit, date and machine, in one line of Markdown. */
import { cpus, totalmem } from "node:os";
import { resolve } from "node:path";
import { type Build, buildAt } from "./guard/builds.ts";

/** `build`: what was measured; a profile's name stands for its binary in `dist`. */
export function provenance(build: Build | "minimal" | "all", now: Date = new Date()): string {
  const { commit, isDirty } =
    typeof build === "string" ? buildAt(resolve(import.meta.dirname, `../../dist/${build}/svc`)) : build;
  const cores = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const machine = `${cores.length} × ${cores[0]?.model.trim() ?? "unknown processor"}, ${memory}, ${process.platform}-${process.arch}`;
  const changed = isDirty ? " with changes" : "";
  return `Commit ${commit.slice(0, 8)}${changed}, ${now.toISOString().slice(0, 10)}; ${machine}, Node ${process.versions.node}.`;
}
