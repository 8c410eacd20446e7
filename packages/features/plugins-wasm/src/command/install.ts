/** `svc plugin install`: fetched, checked, shown, agreed to, and only then on the disk. */
import { type Clock, EXIT, type FeatureCommandContext, SvcError } from "@svc/contract";
import { makeScratch } from "@svc/kit/files";
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CHECKED } from "../children/plugin-check.ts";
import type { PluginPackage } from "../install/package.ts";
import {
  clearLeftovers,
  type Installed,
  installedAt,
  isUnchanged,
  newReleaseName,
  openPluginsFolder,
  putPlugin,
  unwritable,
  withPluginLock,
} from "../install/place.ts";
import { packageFrom } from "../install/source.ts";
import { type Approval, hashOf } from "../installed.ts";
import { asHostName } from "../manifest.ts";
import { checkModule } from "../module.ts";
import { type PluginCommand, type PluginContext, putIntoForce } from "./plugin.ts";
import { pluginJson, shownPackage } from "./show.ts";

/** Throws PLUGIN_*, what fetching throws, STORE_FULL, HOME_UNWRITABLE; then nothing is changed. */
export const install: PluginCommand = async (context) => {
  const plugin = await packageFrom(context.subject, context);
  await checkPackage(plugin, context);
  const { name, version } = plugin.manifest;
  const before = await installedAt(context.pluginsFolder, name);
  if (!context.json) context.print(shownPackage(plugin, before));
  const isNew = !isSame(plugin, before);
  await agreedTo(plugin, before, context, isNew);
  if (isNew) await place(plugin, before, context);
  const force = await putIntoForce(context);
  if (context.json) {
    const approval = approvalOf(plugin, context);
    context.printJson({ installed: pluginJson(name, approval), changed: isNew, ...force });
  } else {
    context.print(isNew ? `${name} ${version} is installed` : `${name} ${version} was installed already, exactly so`);
    context.print(force.reload);
  }
  return EXIT.ok;
};

const isSame = ({ toml }: PluginPackage, before: Installed | undefined): boolean =>
  before?.isIntact === true && before.approval?.manifest_sha256 === hashOf(toml);

async function place(plugin: PluginPackage, before: Installed | undefined, context: PluginContext): Promise<void> {
  const { pluginsFolder, clock, signal } = context;
  try {
    await openPluginsFolder(pluginsFolder);
    await withPluginLock(pluginsFolder, clock, signal, async () => {
      if (!isUnchanged(before, await installedAt(pluginsFolder, plugin.manifest.name))) throw overtaken();
      await clearLeftovers(pluginsFolder);
      await putPlugin(pluginsFolder, plugin, approvalOf(plugin, context));
    });
  } catch (error) {
    throw unwritable(error);
  }
}

const approvalOf = ({ manifest, toml, source }: PluginPackage, { clock }: PluginContext): Approval => ({
  format: 1,
  release: newReleaseName(),
  manifest,
  manifest_sha256: hashOf(toml),
  source,
  approved_at: new Date(clock.now()).toISOString(),
});

const overtaken = (): SvcError =>
  new SvcError("PLUGIN_CHANGED", "Another command changed this plugin meanwhile; nothing of this one is installed.", {
    hint: "Run it again to see what would change now.",
  });

// Nothing is installed that no one agreed to: a person who saw it, or options that name exactly this file and these hosts.

/**
 * `isNew`: consent is needed. Throws PLUGIN_CHANGED when `--sha256` names another file, and PLUGIN_REFUSED. Does not prompt if
 * the options give the consent.
 */
async function agreedTo(
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
      hint: "Ask the person who gave you the hash, or the plugin's author.",
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
  throw refused("Installing a plugin needs a confirmation, but there is no terminal.");
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

// Whether the module can run here, checked before asking for consent.

/** A module of 20 MiB that a compiler made takes less than a second. */
const LONGEST_MS = 10_000;

export interface CheckDeps extends Pick<FeatureCommandContext, "child" | "signal"> {
  readonly clock: Pick<Clock, "after">;
}

/** Throws PLUGIN_INVALID, and the signal's reason. */
async function checkPackage({ manifest, wasm }: PluginPackage, deps: CheckDeps): Promise<void> {
  checkModule(wasm, { memoryMb: manifest.limits.memory_mb });
  await using scratch = await makeScratch({ prefix: "svc-plugin-" });
  const file = join(scratch.path, "module.wasm");
  await writeFile(file, wasm, { mode: 0o600 });
  await validated(file, deps);
}

async function validated(file: string, { child, clock, signal }: CheckDeps): Promise<void> {
  signal.throwIfAborted();
  const [program, ...args] = child("plugin-check");
  // No variable of ours: it reads what others wrote.
  const process = spawn(program, [...args, file], { stdio: "ignore", env: {} });
  const end = (): void => void process.kill("SIGKILL");
  signal.addEventListener("abort", end, { once: true });
  let isLate = false;
  const cancel = clock.after(LONGEST_MS, () => {
    isLate = true;
    end();
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      process.once("error", reject);
      process.once("close", resolve);
    });
    signal.throwIfAborted();
    if (code === CHECKED.valid) return;
    if (isLate) throw new SvcError("PLUGIN_INVALID", `Reading the module takes more than ${LONGEST_MS / 1000} s.`);
    // A module that ends the process that reads it is none to install either.
    throw new SvcError("PLUGIN_INVALID", "The engine does not take the module.");
  } finally {
    cancel();
    signal.removeEventListener("abort", end);
  }
}
