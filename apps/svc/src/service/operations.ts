/** What an operator watches and does in the page beside settings: first steps, usage, the log, checks, backups. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { utcDay } from "@svc/agent";
import { type ClientId, ERRORS, type ErrorCode, SvcError } from "@svc/contract";
import type { LogSearch, Operations } from "@svc/gateway";
import { ANONYMOUS, proceduresIdentity } from "@svc/gateway/identity";
import { logFilePath } from "@svc/runtime";
import { makeFolder, resolveAgents } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { lastBackup } from "../backup/last-backup.ts";
import { removeOldBackups } from "../backup/old-backups.ts";
import { channelList } from "../channels/channel-list.ts";
import { selfCommand } from "./self-command.ts";
import type { Service } from "./service.ts";

type Called<Name extends keyof Operations> = Awaited<ReturnType<Operations[Name]>>;

const DAY_MS = 86_400_000;
/** Of a day, in the page. */
const MOST_CLIENTS = 100;
/** Of one value that the page shows. */
const LONGEST_VALUE = 4000;

export class OperationsDesk implements Operations {
  readonly #service: Service;
  /** As the daemon got it, the home included. */
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #checks = new Map<boolean, Promise<Called<"doctor">>>();
  #backup: Promise<Called<"backup">> | undefined;

  constructor(service: Service, env: Readonly<Record<string, string | undefined>>) {
    this.#service = service;
    this.#env = { ...env, SVC_HOME: service.context.home.root };
  }

  async setup(): Promise<Called<"setup">> {
    const { config, store, generation, context } = this.#service;
    const agents = [...resolveAgents(config.core).values()];
    const isUp = ({ state, reason }: ReturnType<typeof channelList>[number]) => state === "running" && reason === null;
    return {
      model: agents.some(({ model }) => model.provider !== "builtin"),
      channel: channelList(this.#service).some(isUp),
      tool: store.toolCalls.anyFinished(),
      sandbox: !["none", "unavailable", "probing"].includes(generation.sandbox.effective),
      service: await this.#installed(),
      backup: lastBackup(context.home) ?? null,
    };
  }

  async #installed(): Promise<Called<"setup">["service"]> {
    const [{ managerOf }, { readServiceFile }] = await Promise.all([
      import("../system-service/manager.ts"),
      import("../system-service/service-file.ts"),
    ]);
    try {
      const managers = await Promise.all([false, true].map((system) => managerOf({ env: this.#env, system })));
      const { root } = this.#service.context.home;
      return managers.some(({ file }) => readServiceFile(file)?.text.includes(root)) ? "installed" : "absent";
    } catch (error) {
      if (error instanceof SvcError && error.code === "SERVICE_UNSUPPORTED") return "unsupported";
      return "absent";
    }
  }

  usage(days: number): ReturnType<Operations["usage"]> {
    const now = systemClock.now();
    const since = utcDay(now - (days - 1) * DAY_MS);
    const usage = this.#service.store.usage.listByChannel(since).map((line) => ({
      day: line.day,
      agent: line.agent,
      model: line.model,
      channel: line.channel,
      turns: line.turns,
      input_tokens: line.inputTokens,
      output_tokens: line.outputTokens,
      cost_usd: line.costUsd,
      unknown_cost_turns: line.unknownCostTurns,
    }));
    return { since, today: utcDay(now), usage, clients: this.#clients(utcDay(now)) };
  }

  /** The ClientId stays inside: it is an identity, not a name. */
  #clients(today: string): ReturnType<Operations["usage"]>["clients"] {
    const { store, config } = this.#service;
    const agents = resolveAgents(config.core);
    const local = store.meta.get("local_client_id");
    return store.usage.clients(today, MOST_CLIENTS).map(({ agent, client, channel, spentUsd }) => {
      const device = store.devices.ofClient(client);
      const limit = agents.get(agent)?.clientMaxCostPerDay ?? null;
      const line = { agent, device: device ? { id: device.id, name: device.name } : null, channel };
      const kind = device ? "device" : kindOf(client, channel, local);
      return { ...line, kind, cost_usd: spentUsd, limit_usd: limit };
    });
  }

  async logs({ level, text, channel, after, limit }: LogSearch): Promise<Called<"logs">> {
    const [{ logPage }, { matcher }] = await Promise.all([import("../logs/log-page.ts"), import("../logs/filters.ts")]);
    const { home, log } = this.#service.context;
    const matches = matcher({ level, sinceMs: undefined, fields: [], channel, grep: text === "" ? undefined : text });
    const { lines, cursor, isCut } = logPage(logFilePath(home), { limit, after, matches });
    // A secret that was configured after the line was written.
    const shown = (value: string): string => log.redact(value).slice(0, LONGEST_VALUE);
    return {
      lines: lines.map(({ text: raw, entry }) => ({
        time: entry?.time ?? null,
        level: entry?.level ?? null,
        message: shown(entry?.message ?? raw),
        fields: (entry?.fields ?? []).map(([name, value]) => ({ name, value: shown(String(value)) })),
      })),
      cursor: cursor ?? null,
      cut: isCut,
    };
  }

  /** Calls meanwhile get the same answer: each run is a process of its own. */
  doctor(security: boolean): Promise<Called<"doctor">> {
    const running = this.#checks.get(security);
    if (running) return running;
    const checks = this.#check(security).finally(() => this.#checks.delete(security));
    this.#checks.set(security, checks);
    return checks;
  }

  async #check(security: boolean): Promise<Called<"doctor">> {
    const [{ superviseChecks }, { groupOf }] = await Promise.all([
      import("../doctor/supervise.ts"),
      import("../doctor/groups.ts"),
    ]);
    const { config, context } = this.#service;
    const findings = await superviseChecks({ security, config: config.file, env: this.#env });
    return {
      ok: !findings.some(({ level }) => level === "error"),
      findings: findings.map((finding) => ({
        id: finding.id,
        group: groupOf(finding).id,
        level: finding.level,
        message: context.log.redact(finding.message),
        fix: finding.fix ?? null,
      })),
    };
  }

  /** In a process of its own: it reads and checks the whole home. Throws BACKUP_FAILED, BUSY. */
  async backup(by: string): Promise<Called<"backup">> {
    if (this.#backup) throw new SvcError("BUSY", "A backup is being made already.");
    this.#backup = this.#makeBackup().finally(() => (this.#backup = undefined));
    const made = await this.#backup;
    const { store, governance } = this.#service;
    await store.write(() => governance.sops.audit.add("backup", { file: made.file, by }));
    return made;
  }

  async #makeBackup(): Promise<Called<"backup">> {
    const folder = join(this.#service.context.home.root, "backups");
    try {
      await makeFolder(folder);
    } catch (cause) {
      throw new SvcError("BACKUP_FAILED", `${folder} can't be written.`, { cause });
    }
    const { file, args } = selfCommand();
    const said = await new Promise<string>((resolve, reject) => {
      const words = [...args, "backup", folder, "--json"];
      execFile(file, words, { env: this.#env, timeout: 600_000, windowsHide: true }, (error, stdout, stderr) =>
        error ? reject(failureIn(stderr + stdout, error)) : resolve(stdout),
      );
    });
    const {
      file: made,
      created_at: at,
      bytes,
    } = JSON.parse(said) as { file: string; created_at: string; bytes: number };
    removeOldBackups(folder);
    return { file: made, at, bytes };
  }
}

/** What `svc backup --json` says when it fails. */
function failureIn(text: string, cause: Error): SvcError {
  try {
    const { code, error, hint } = JSON.parse(text) as { code?: string; error?: string; hint?: string };
    if (code !== undefined && Object.hasOwn(ERRORS, code)) {
      const known = code === "BUSY" ? "BUSY" : ("BACKUP_FAILED" satisfies ErrorCode);
      return new SvcError(known, error, { cause, ...(typeof hint === "string" && { hint }) });
    }
  } catch {
    // It was killed, or never started.
  }
  return new SvcError("BACKUP_FAILED", "The backup could not be made.", { cause, hint: "Run: svc backup" });
}

function kindOf(client: ClientId, channel: string, local: string | undefined): Exclude<ClientKind, "device"> {
  if (client === ANONYMOUS) return "anonymous";
  if (client === local) return "terminal";
  if (client === proceduresIdentity()) return "procedures";
  return channel === "" ? "gone" : "person";
}

type ClientKind = ReturnType<Operations["usage"]>["clients"][number]["kind"];
