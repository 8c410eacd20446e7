/** What the daemon says when it is up: where it listens, what answers, what confines, and what to type next. */
import type { CatalogueEntry } from "@svc/contract";
import type { Gateway } from "@svc/gateway";
import { linkLines } from "../pairing-text.ts";
import type { Build } from "../../main.ts";
import { type CoreConfig, DEFAULT_AGENT, type LoadedConfig, type ResolvedAgent, resolveAgents } from "@svc/kernel";
import { unsignedChannels } from "../../channels/channel-list.ts";
import type { Service } from "../service.ts";

export function banner(build: Build, service: Service, gateway: Gateway, firstRun: boolean): string {
  const { context, config } = service;
  const { model } = agentOf(config);
  return [
    `svc ${build.version} (${context.composition.profile}), home ${context.home.root}`,
    ...(firstRun ? [`first run: wrote ${context.home.config}`] : []),
    model.provider === "builtin"
      ? `model: builtin (repeats what it is told; set [model] in ${config.file} for a real one)`
      : `model: ${model.name} by ${model.provider}${model.price ? "" : " (price unknown: cost is not counted; set [model.price])"}`,
    sandboxLine(service),
    ...unsignedChannels(service).map(
      (channel) =>
        `NOT SIGNED: whoever finds its address can write as anybody of ${channel}; set its secret in [channels_config.${channel}]`,
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
  const told = [
    "",
    `pairing code: ${code} (one use, ten minutes; another one: svc pair)`,
    "",
    "Sign a browser in:",
    ...linkLines(linksOf(code)),
    "",
  ];
  if (webhook.signing_secret) {
    told.push("Or copy and paste this line to pair; what is posted to /webhook must be signed too:", pair);
  } else {
    told.push("Or copy and paste these two lines to pair and to send a message:", pair, sendLine(url, webhook.secret));
  }
  return told.join("\n");
}

function sendLine(url: string, secret: string | undefined): string {
  const header = secret ? " -H 'X-Webhook-Secret: <secret of [channels_config.webhook]>'" : "";
  return `  curl -fsS ${url}/webhook -H "Authorization: Bearer $TOKEN"${header} -H 'Content-Type: application/json' -d '{"message":"hello"}'`;
}

const agentOf = (config: LoadedConfig): ResolvedAgent => resolveAgents(config.core).get(DEFAULT_AGENT)!;

/** The sandbox in force; where it is `none`, why, and the one command that mends it. */
function sandboxLine({ generation: { sandbox }, context }: Service): string {
  if (sandbox.effective !== "none") return `sandbox: ${sandbox.effective}`;
  if (sandbox.chosenNone) {
    return 'sandbox: none, as the config says. To confine commands: set [security.sandbox] backend = "auto".';
  }
  const backends = context.composition.catalogue.filter(
    (entry) => entry.kind === "sandbox" && fits(entry) && !entry.planned,
  );
  const addable = backends.find((entry) => !entry.included);
  if (addable) return `sandbox: none in this build. To confine commands: npx pnpm build minimal --with ${addable.flag}`;
  if (backends.length > 0) return `sandbox: none. ${sandbox.warning ?? ""}`;
  return "sandbox: none in this version yet. Every command waits for a yes: on the page, in svc chat or with svc approvals";
}

const fits = (entry: CatalogueEntry): boolean =>
  entry.platforms.length === 0 || entry.platforms.includes(process.platform);
