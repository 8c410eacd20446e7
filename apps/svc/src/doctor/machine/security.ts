/** What makes a crash or a mistake of the agent worse than it has to be. */
import { ok, warning } from "../finding.ts";
import type { Check } from "./check.ts";

export const root: Check = {
  id: "root",
  security: true,
  async find(machine) {
    const { report } = await machine.daemon();
    const uid = report ? report.uid : process.getuid?.();
    if (uid === undefined) return [];
    if (uid !== 0) return [ok("root", "svc does not run as root.")];
    const who = report ? "The daemon runs" : "svc runs";
    const message = `${who} as root: what breaks out of it has the whole machine.`;
    return [warning("root", message, "svc service install --system --user-name <user>")];
  },
};

export const coreDumps: Check = {
  id: "core-dumps",
  security: true,
  async find(machine) {
    const { report } = await machine.daemon();
    if (report?.dumpsCore === undefined) return [];
    if (!report.dumpsCore) return [ok("core-dumps", "A crash writes no memory to the disk.")];
    const message = "A crash of the daemon would write its memory, with every secret in it, to the disk.";
    return [
      warning(
        "core-dumps",
        message,
        "install util-linux, whose prlimit the start uses, or start it after: ulimit -c 0",
      ),
    ];
  },
};
