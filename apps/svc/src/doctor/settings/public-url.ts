/** The URL that providers call. Whether it leads here is looked at over the network (machine/public-url.ts). */
import { type Finding, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

export function publicUrlFindings({ config }: Settings): Finding[] {
  const { public_url: url } = config.core.gateway;
  if (url === undefined) return [ok("public-url", "gateway.public_url is not set: no provider can call this service.")];
  if (new URL(url).protocol === "https:") return [ok("public-url", "gateway.public_url is https.")];
  const message = "gateway.public_url is http: tokens and messages can be read on their way.";
  return [
    warning("public-url", message, "put a reverse proxy with TLS in front, and set gateway.public_url to https://…"),
  ];
}
