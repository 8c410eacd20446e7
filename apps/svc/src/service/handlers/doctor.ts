/** What only the daemon can tell `svc doctor`: what is in force, what it has seen, what a reload would change. */
import { readFileSync, realpathSync } from "node:fs";
import type { DaemonReport } from "@svc/api/control";
import { homeOf, type LoadedConfig } from "@svc/config";
import type { Gateway } from "@svc/gateway";
import type { Handlers } from "../control.ts";
import { changedSections, needRestart } from "../reload.ts";
import type { Service } from "../service.ts";

/** Made when the daemon starts: what needs a restart is compared with the config of that moment. */
export function doctorHandlers(service: Service, gateway: Gateway): Pick<Handlers, "doctor"> {
  const started = service.config;
  const home = homeOf({ SVC_HOME: realPath(service.context.home.root) });
  return {
    doctor: async ({ body }) => {
      const [{ settingsFindings }] = await Promise.all([
        import("../../doctor/settings/checks.ts"),
        service.generation.probe.verdict,
      ]);
      const findings = settingsFindings(
        {
          home,
          config: service.config,
          profile: service.context.composition.profile,
          catalogue: service.context.composition.catalogue,
          features: service.context.composition.features,
          sandbox: service.generation.sandbox,
          ingress: service.generation.registry.ingress,
          workspaces: new Map(
            [...service.generation.agents.profiles].map(([name, { environment }]) => [
              name,
              environment.workspace.root,
            ]),
          ),
        },
        { security: body.security },
      );
      return {
        uid: process.getuid?.(),
        ...(await differences(service, started)),
        untrustedForwarding: gateway.seen.untrustedForwarding,
        pairingCodes: gateway.pairing.liveCodes,
        newestMs: service.store.sessions.list({}, 1)[0]?.updatedAt,
        dumpsCore: dumpsCore(),
        findings,
      };
    },
  };
}

/** The daemon loads the file itself: with its own environment, and blind to secrets that were only sealed in place. */
async function differences(
  { context, config }: Service,
  started: LoadedConfig,
): Promise<Pick<DaemonReport, "changed" | "restart">> {
  try {
    const next = await context.load();
    return { changed: changedSections(config, next), restart: needRestart(context, started, next) };
  } catch {
    // What is wrong with it is told by who reads it beside us.
    return { changed: undefined, restart: [] };
  }
}

/** The soft limit is what counts. Linux alone tells it. */
function dumpsCore(): boolean | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const [, soft] = /^Max core file size\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === undefined ? undefined : soft !== "0";
  } catch {
    return undefined;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
