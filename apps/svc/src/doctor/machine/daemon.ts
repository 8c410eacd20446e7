/** The daemon: running, answering, ours, and of this version. */
import { error, type Finding, ok, warning } from "../finding.ts";
import type { Check } from "./machine.ts";
import type { DaemonState } from "./daemon-state.ts";

export const daemon: Check = {
  id: "daemon",
  find: async (machine) => [phaseFinding(await machine.daemon(), machine.home.root)],
};

function phaseFinding({ phase, status, holder }: DaemonState, home: string): Finding {
  const who = holder === undefined ? "" : ` (process ${holder})`;
  switch (phase) {
    case "up":
      return ok("daemon", `The daemon runs (process ${status?.pid}) and answers.`);
    case "stopped":
      return holder === undefined
        ? warning("daemon", `No daemon runs on ${home}.`, "svc daemon, or: svc service install")
        : warning(
            "daemon",
            `The home is in use${who}, and no daemon answers yet.`,
            "wait for its start, or for the command",
          );
    case "hung":
      return error(
        "daemon",
        `The daemon does not answer${who}.`,
        holder === undefined ? "svc logs" : `kill -9 ${holder}, then start it again`,
      );
    case "forbidden":
      return error(
        "daemon",
        "The daemon is another user's.",
        "run svc as that user, or set SVC_HOME to a home of yours",
      );
    case "strange":
      return error(
        "daemon",
        "What answers on the control socket is no daemon of svc.",
        "svc logs, then start the daemon again",
      );
  }
}

export const version: Check = {
  id: "version",
  async find(machine) {
    const { status } = await machine.daemon();
    if (status === undefined) return [];
    const { build } = machine.context;
    const same = status.version === build.version && status.commit === build.commit;
    if (same) return [ok("version", `The daemon and this svc are both ${build.version}.`)];
    const message = `The daemon is svc ${status.version} (${status.commit}), this one ${build.version} (${build.commit}).`;
    // `svc restart` would come again in the same process, with the same old binary.
    return [warning("version", message, "stop the daemon and start it with this binary")];
  },
};

export const features: Check = {
  id: "features",
  async find(machine) {
    const { status } = await machine.daemon();
    if (status === undefined) return [];
    const troubled = status.features.filter(({ state }) => state === "failed" || state === "waiting");
    if (troubled.length === 0) return [ok("features", `${status.features.length} features are in service.`)];
    return troubled.map(({ id, state, reason }) => {
      const message = `The feature ${id} ${state === "failed" ? "failed" : "waits and tries again"}: ${reason ?? "no reason given"}`;
      return (state === "failed" ? error : warning)(
        "features",
        message,
        "correct its section of the config, then: svc reload",
      );
    });
  },
};

export const lockedMessages: Check = {
  id: "locked-messages",
  async find(machine) {
    const { status } = await machine.daemon();
    const locked = status?.messages?.locked;
    if (locked === undefined) return [];
    if (locked === 0) return [ok("locked-messages", "No encrypted message waits for its keys.")];
    const message = `${locked} encrypted ${locked === 1 ? "message waits" : "messages wait"} for keys that have not come.`;
    const fix =
      "svc inbox list; ask their senders to write again, and if it happens often: svc channels verify <channel>";
    return [warning("locked-messages", message, fix)];
  },
};

export const forwarding: Check = {
  id: "forwarded-headers",
  async find(machine) {
    const { report } = await machine.daemon();
    if (report === undefined) return [];
    if (!report.untrustedForwarding) return [ok("forwarded-headers", "No forwarding header came that is not trusted.")];
    const message =
      "Requests came through a proxy that is not trusted: all its clients share one limit and one lockout.";
    const fix = "set gateway.trust_forwarded_headers = true, and gateway.trusted_proxies to the proxy's address";
    return [error("forwarded-headers", message, fix)];
  },
};
