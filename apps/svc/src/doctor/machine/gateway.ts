/** The gateway's port: answered by this daemon while it runs, free while none does. */
import { createServer } from "node:net";
import { error, type Finding, ok, warning } from "../finding.ts";
import type { Check } from "./check.ts";
import { probe } from "./probe.ts";

export const gateway: Check = {
  id: "gateway",
  async find(machine, signal) {
    const { status } = await machine.daemon();
    if (status === undefined) return [];
    const answer = await probe(new URL("/health", status.url), signal);
    if (answer.failure !== undefined) {
      return [
        error("gateway", `The gateway does not answer at ${status.url} (${answer.failure}).`, "svc logs --level warn"),
      ];
    }
    if (answer.status === 503)
      return [warning("gateway", "The gateway takes no new work: the daemon stops.", "svc status")];
    return answer.instance === status.instance
      ? [ok("gateway", `The gateway answers at ${status.url}.`)]
      : [error("gateway", `At ${status.url} another program answers.`, "set another gateway.port, then: svc restart")];
  },
};

export const port: Check = {
  id: "port",
  async find(machine) {
    const { phase, holder } = await machine.daemon();
    const { config } = await machine.config();
    if (phase !== "stopped" || holder !== undefined || config === undefined) return [];
    const { host, port: number } = config.core.gateway;
    const code = await listeningFails(host, number);
    return [code === undefined ? ok("port", `Port ${number} is free.`) : portFinding(code, number)];
  },
};

function portFinding(code: string, number: number): Finding {
  if (code === "EADDRINUSE") {
    return error("port", `Port ${number} is in use by another program.`, "stop it, or set another gateway.port");
  }
  if (code === "EACCES") {
    return error("port", `This user may not listen on port ${number}.`, "set gateway.port to 1024 or more");
  }
  return error("port", `gateway.host is no address of this machine (${code}).`, 'set gateway.host = "127.0.0.1"');
}

/** Listens for a moment, as the daemon will. Resolves with the error's code. */
function listeningFails(host: string, number: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "unknown"));
    server.listen({ host, port: number, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
