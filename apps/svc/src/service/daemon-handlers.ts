/** What only a running daemon can do for `svc`: its status, and pairing codes. */
import { type Json, SvcError } from "@svc/contract";
import type { Gateway } from "@svc/gateway";
import type { ControlHandlers } from "@svc/gateway/control";
import type { Scope } from "@svc/store";
import type { Service } from "./service.ts";
import { serviceHandlers } from "./service-handlers.ts";

export async function daemonHandlers(service: Service, gateway: Gateway, status: () => Json): Promise<ControlHandlers> {
  return {
    ...(await serviceHandlers(service)),
    status: () => status(),
    pair: ({ body }) => {
      const name = typeof body["name"] === "string" ? { name: body["name"] } : {};
      const { code, expiresAt } = gateway.pairing.issueCode({ scope: scopeOf(body["scope"]), ...name });
      return { code, expires_at: new Date(expiresAt).toISOString(), url: gateway.url };
    },
  };
}

function scopeOf(value: Json | undefined): Scope {
  if (value === undefined || value === "operator" || value === "webhook" || value === "read")
    return value ?? "operator";
  throw new SvcError("USAGE", "The scope must be operator, webhook or read.");
}
