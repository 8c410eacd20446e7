/** The config: valid, readable, and the one that is in force. */
import { ConfigError, type Problem, formatProblems } from "@svc/config";
import { error, type Finding, ok, warning } from "../finding.ts";
import type { Check } from "./check.ts";
import { keyFile } from "./modes.ts";

export const config: Check = {
  id: "config",
  async find(machine, signal) {
    const { file, problem } = await machine.config();
    if (problem === undefined) return [ok("config", `${file} is valid.`)];
    if (problem.code === "CONFIG_NOT_FOUND") return [warning("config", `${file} does not exist.`, "svc init")];
    if (problem instanceof ConfigError) {
      const [state] = await keyFile.find(machine, signal);
      return problem.problems.map((each) => findingOf(each, file, state));
    }
    return [error("config", problem.message, problem.hint ?? "svc config check")];
  },
};

/** What can't be decrypted is no mistake in the file, and is fixed otherwise. */
function findingOf(problem: Problem, file: string, keyFileState: Finding | undefined): Finding {
  const message = formatProblems([problem]);
  if (problem.code === "SECRET_UNREADABLE") {
    const restore = `restore .secret_key from a backup, or move it away and: svc secrets set ${problem.key}`;
    return error("secrets-readable", message, keyFileState?.fix ?? restore);
  }
  const where = problem.env === undefined ? `edit ${file}` : `change or unset ${problem.env}`;
  return error("config", message, `${where}, then: svc config check`);
}

export const configInForce: Check = {
  id: "config-in-force",
  async find(machine) {
    const { report } = await machine.daemon();
    if (report === undefined) return [];
    if (report.changed === undefined) {
      const message = "The daemon runs on a config that is no longer in the file, which it could not load.";
      return [warning("config-in-force", message, "svc config check, then: svc reload")];
    }
    return [
      report.changed.length === 0
        ? ok("config-in-force", "The daemon runs on the config as it is.")
        : warning("config-in-force", `Changed since the daemon loaded it: ${sections(report.changed)}.`, "svc reload"),
      ...(report.restart.length === 0
        ? []
        : [warning("config-in-force", `In force only after a restart: ${report.restart.join(", ")}.`, "svc restart")]),
    ];
  },
};

const sections = (names: readonly string[]): string => names.map((name) => `[${name}]`).join(", ");
