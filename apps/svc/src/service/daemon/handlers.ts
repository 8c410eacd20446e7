/** What only a running daemon can do for `svc`: its status, pairing codes, reload and restart. */
import { type Json, SvcError } from "@svc/contract";
import type { ControlHandlers } from "@svc/gateway/control";
import type { Scope } from "@svc/store";
import { backupHandlers } from "../../backup/handlers.ts";
import { doctorHandlers } from "../../doctor/daemon-report.ts";
import { deviceHandlers } from "../handlers/devices.ts";
import { serviceHandlers } from "../handlers/service.ts";
import { statusReport } from "../status.ts";
import type { Daemon } from "./daemon.ts";

export async function daemonHandlers(daemon: Daemon): Promise<ControlHandlers> {
  const { context, service, gateway, reloader, restart } = daemon;
  return {
    ...(await serviceHandlers(service)),
    ...deviceHandlers(gateway.devices),
    ...doctorHandlers(service, gateway),
    ...backupHandlers({
      home: service.context.home,
      store: service.store,
      checkStart: async (files) => {
        const { restoredConfig } = await import("../../backup/restored-config.ts");
        const { home, composition } = service.context;
        const config = await restoredConfig(home, files, composition, context.env);
        await gateway.checkSuccessor((config ?? service.config).core.gateway);
      },
      restart: (between) => restart.ask(between),
    }),
    status: () => statusReport(context.build, service, gateway),
    reload: async () => ({ ...(await reloader.reload()) }) as unknown as Json,
    restart: async () => {
      // What would not come up again is told now: later there would be nobody left to tell.
      await gateway.checkSuccessor((await service.context.load()).core.gateway);
      return { restarting: restart.ask() };
    },
    pair: ({ body }) => {
      const name = typeof body["name"] === "string" ? { name: body["name"] } : {};
      const { code, expiresAt } = gateway.pairing.issueCode({ scope: scopeOf(body["scope"]), ...name });
      const { local, remote } = gateway.linksOf(code);
      return {
        code,
        expires_at: new Date(expiresAt).toISOString(),
        url: gateway.url,
        link: local,
        remote_link: remote ?? null,
      };
    },
  };
}

function scopeOf(value: Json | undefined): Scope {
  if (value === undefined || value === "operator" || value === "webhook" || value === "read")
    return value ?? "operator";
  throw new SvcError("USAGE", "The scope must be operator, webhook or read.");
}
