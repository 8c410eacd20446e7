/** What the daemon says when it is up: where it listens, what answers, what confines, and what to type next. */
import type { CatalogueEntry } from "@svc/contract";
import type { Gateway } from "@svc/gateway";
import type { Build } from "../../main.ts";
import { DEFAULT_AGENT, type LoadedConfig, type ResolvedAgent, resolveAgents } from "@svc/kernel";
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
    `listening on ${gateway.url}`,
  ].join("\n");
}

export function pairingLines(gateway: Gateway, issued: { readonly code: string }): string {
  const { url } = gateway;
  return [
    "",
    `pairing code: ${issued.code} (one use, ten minutes; another one: svc pair)`,
    "",
    "Copy and paste these two lines to pair and to send a message:",
    `  TOKEN=$(curl -fsS -X POST ${url}/pair -H 'X-Pairing-Code: ${issued.code}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    `  curl -fsS ${url}/webhook -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"message":"hello"}'`,
  ].join("\n");
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
  return "sandbox: none in this version yet. Every command waits for a person, who answers in: svc chat";
}

const fits = (entry: CatalogueEntry): boolean =>
  entry.platforms.length === 0 || entry.platforms.includes(process.platform);
