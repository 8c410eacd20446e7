/** Nothing is installed that nobody agreed to: a person who saw it, or options that name exactly this file and these hosts. */
import { SvcError } from "@svc/contract";
import type { Installed } from "../install/installed.ts";
import type { PluginPackage } from "../install/package.ts";
import { asHostName } from "../manifest/host-name.ts";
import type { PluginContext } from "./plugin.ts";

/**
 * `isNew`: there is something to agree to. Throws PLUGIN_CHANGED when `--sha256` names another file, and PLUGIN_REFUSED. Where
 * the options say it all, nobody is asked.
 */
export async function agreedTo(
  { manifest, source }: PluginPackage,
  before: Installed | undefined,
  context: PluginContext,
  isNew: boolean,
): Promise<void> {
  const { options, json } = context;
  const hash = options.text("sha256")?.trim().toLowerCase();
  const hosts = options.texts("allow-host").map(asHostName);
  if (hash !== undefined && hash !== manifest.sha256) {
    throw new SvcError("PLUGIN_CHANGED", "The wasm file's SHA-256 is not the one in --sha256; nothing is installed.", {
      hint: "Ask whoever gave you the hash, or whoever made the plugin.",
    });
  }
  const isEachNamed = sameHosts(hosts, manifest.allowed_hosts);
  if (hosts.length > 0 && !isEachNamed) {
    throw refused("The plugin wants to reach other hosts than those in --allow-host.");
  }
  if (!isNew) return;
  const isElsewhere = before?.approval !== undefined && before.approval.source !== source;
  if (hash !== undefined && isEachNamed && (!isElsewhere || options.flag("yes"))) return;
  const answer = json || options.flag("yes") ? undefined : await context.confirm(question(manifest.name, before));
  if (answer === true) return;
  if (answer === false) throw new SvcError("PLUGIN_REFUSED", "You did not agree; nothing is installed.");
  if (hash !== undefined && isEachNamed) {
    throw new SvcError("PLUGIN_REFUSED", "A plugin of this name is installed from another place.", {
      hint: "Look at both. With --yes this one takes its place.",
    });
  }
  throw refused("Nobody can be asked here whether to install this.");
}

/** In the plugin's own order, so that each is said as it was typed elsewhere. */
const sameHosts = (named: readonly string[], wanted: readonly string[]): boolean =>
  new Set(named).size === wanted.length && wanted.every((host) => named.includes(host));

const question = (name: string, before: Installed | undefined): string =>
  before === undefined
    ? `Install ${name}?`
    : `Replace ${name}, which ${before.isIntact ? "is installed" : "is broken"}?`;

const refused = (message: string): SvcError =>
  new SvcError("PLUGIN_REFUSED", `${message} Nothing is installed.`, {
    hint: "Look at the hash and the hosts, then say both: --sha256 <hash>, and --allow-host <host> for each host it may reach.",
  });
