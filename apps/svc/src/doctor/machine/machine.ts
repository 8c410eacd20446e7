/** What the checks of this machine look at. Everything is found out once, when it is asked for first. */
import { stat } from "node:fs/promises";
import { type Home, homeOf, loadConfig, type LoadedConfig, PAGE_SESSION_DAYS } from "@svc/config";
import { type CatalogueEntry, type Clock, type Composition, SvcError } from "@svc/contract";
import type { CheckedSop } from "@svc/sop";
import type { Paired } from "@svc/store";
import type { CommandContext } from "../../cli/command.ts";
import { checkProcedures } from "../../service/governance/procedures.ts";
import { type DaemonState, lookAtDaemon } from "./daemon-state.ts";
import type { Finding } from "../finding.ts";

export interface Machine {
  readonly context: CommandContext;
  readonly home: Home;
  readonly clock: Clock;
  readonly security: boolean;
  composition(): Promise<Composition>;
  daemon(): Promise<DaemonState>;
  config(): Promise<ConfigState>;
  /** Those of the workspace, as their files are now. */
  procedures(): Promise<readonly CheckedSop[]>;
  /** Undefined: it can't be read. */
  paired(): Promise<Paired | undefined>;
}

export interface ConfigState {
  /** Absolute. */
  readonly file: string;
  /** Undefined: it can't be loaded. */
  readonly config: LoadedConfig | undefined;
  readonly problem: SvcError | undefined;
}

export function machineOf(context: CommandContext, clock: Clock): Machine {
  const home = homeOf(context.env);
  const security = context.options.flag("security");
  const composition = once(() => context.build.load());
  const daemon = once(() => lookAtDaemon(home, security, clock));
  const config = once(async () => {
    const { features, catalogue } = await composition();
    // A daemon may have been started with --config: what it runs on is what counts.
    const named = context.options.text("config") ?? (await daemon()).status?.config;
    return readConfig(named ?? home.config, { home, env: context.env, features, catalogue });
  });
  const procedures = once(async () => {
    const { config: loaded } = await config();
    return loaded ? checkProcedures({ home }, loaded) : [];
  });
  const paired = once(async () => {
    const days = (await config()).config?.core.gateway.page_session_days ?? PAGE_SESSION_DAYS;
    return pairedIn(home, clock.now() - days * 86_400_000);
  });
  return { context, home, clock, security, composition, daemon, config, procedures, paired };
}

async function readConfig(
  file: string,
  options: {
    readonly home: Home;
    readonly env: CommandContext["env"];
    readonly features: Composition["features"];
    readonly catalogue: readonly CatalogueEntry[];
  },
): Promise<ConfigState> {
  try {
    const there = await stat(file).catch(() => undefined);
    // Opening a FIFO would wait for a writer for ever.
    if (there && !there.isFile()) throw new SvcError("CONFIG_INVALID", `${file} is no plain file.`);
    return { file, config: await loadConfig({ ...options, file }), problem: undefined };
  } catch (error) {
    return { file, config: undefined, problem: error instanceof SvcError ? error : unexpected(error) };
  }
}

/** The daemon writes to the same file; a FIFO in its place would hold up whoever opens it. */
async function pairedIn({ database }: Home, oldestSeenMs: number): Promise<Paired | undefined> {
  const there = await stat(database).catch(() => undefined);
  if (there && !there.isFile()) return undefined;
  const { readPaired } = await import("@svc/store");
  return readPaired(database, oldestSeenMs);
}

const unexpected = (cause: unknown): SvcError => new SvcError("CONFIG_INVALID", "The config can't be read.", { cause });

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= work());
}

/** One look at this machine. */
export interface Check {
  /** Of its findings too, unless it tells several apart. Stable. */
  readonly id: string;
  /** Only with --security. */
  readonly security?: true;
  /** `signal` is aborted when its time is up; what it finds afterwards is not told. */
  find(machine: Machine, signal: AbortSignal): Finding[] | Promise<Finding[]>;
}
