/** What the daemon says when it is up: where it listens, what answers, what confines, and what to type next. */
import { type CoreConfig, DEFAULT_AGENT, type LoadedConfig, resolveAgents, type ResolvedAgent } from "@svc/config";
import type { Gateway } from "@svc/gateway";
import { linkLines } from "../pairing-text.ts";
import type { Build } from "../../main.ts";
import { unsignedChannels } from "../channels.ts";
import { PASSKEYS } from "../context.ts";
import { sandboxState } from "../sandbox-state.ts";
import type { Service } from "../service.ts";

export function banner(build: Build, service: Service, gateway: Gateway, firstRun: boolean): string {
  const { context, config } = service;
  const { model } = agentOf(config);
  return [
    `svc ${build.version} (${context.composition.profile}), home ${context.home.root}`,
    ...(firstRun ? [`first run: wrote ${context.home.config}`] : []),
    model.provider === "builtin"
      ? `model: builtin (repeats messages; set [model] in ${config.file} for a real one)`
      : `model: ${model.name} by ${model.provider}${model.price ? "" : " (price unknown: cost is not counted; set [model.price])"}`,
    sandboxLine(service),
    ...passkeyLine(service, gateway),
    ...unsignedChannels(service).map(
      (channel) =>
        `NOT SIGNED: anyone who finds its address can write as any sender of ${channel}; set its secret in [channels_config.${channel}]`,
    ),
    `listening on ${gateway.url}`,
    `the page: ${gateway.url}/`,
  ].join("\n");
}

/** `webhook`: the section in force; whoever pastes the lines must not meet a 401. */
export function pairingLines(
  { url, linksOf }: Pick<Gateway, "url" | "linksOf">,
  { code }: { readonly code: string },
  webhook: CoreConfig["channels_config.webhook"],
): string {
  const pair = `  TOKEN=$(curl -fsS -X POST ${url}/pair -H 'X-Pairing-Code: ${code}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`;
  const lines = [
    "",
    `pairing code: ${code} (one use, ten minutes; another one: svc pair)`,
    "",
    "Sign a browser in:",
    ...linkLines(linksOf(code)),
    "",
  ];
  if (webhook.signing_secret) {
    lines.push("Or copy and paste this line to pair; what is posted to /webhook must be signed too:", pair);
  } else {
    lines.push(
      "Or copy and paste these two lines to pair and to send a message:",
      pair,
      sendLine(url, webhook.secret !== undefined),
    );
  }
  return lines.join("\n");
}

function sendLine(url: string, hasSecret: boolean): string {
  const header = hasSecret ? " -H 'X-Webhook-Secret: <secret of [channels_config.webhook]>'" : "";
  return `  curl -fsS ${url}/webhook -H "Authorization: Bearer $TOKEN"${header} -H 'Content-Type: application/json' -d '{"message":"hello"}'`;
}

const agentOf = (config: LoadedConfig): ResolvedAgent => resolveAgents(config.core).get(DEFAULT_AGENT)!;

/** Where passkeys can be used, in a build that has them. */
function passkeyLine({ lifecycle, config, context }: Service, { url }: Pick<Gateway, "url">): string[] {
  if (!context.composition.features.some(({ id }) => id === PASSKEYS)) return [];
  const feature = lifecycle.features().find(({ id }) => id === PASSKEYS);
  if (feature === undefined) {
    return ["passkeys: off. To sign in by a finger, a face or a PIN: svc config set security.webauthn.enabled true"];
  }
  if (feature.state === "failed") return [`passkeys: failed. ${feature.reason ?? ""}`.trimEnd()];
  const page = config.core.gateway.public_url ?? `http://localhost:${new URL(url).port}`;
  return [`passkeys: offered at ${page.replace(/\/$/, "")}/`];
}

/** The sandbox in force; where there is none, why, and the one command that adds one. */
function sandboxLine({ generation: { sandbox }, context }: Service): string {
  const { effective, summary, fix } = sandboxState(sandbox, context.composition);
  return fix === null ? `sandbox: ${effective}` : `sandbox: ${effective}. ${summary} To confine commands: ${fix}`;
}
