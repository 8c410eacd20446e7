/**
 * The daemon: config, service, gateway, control socket, in that order; and the way back when it is told to stop. A restart goes the whole way
 * back and comes again in the same process, for what a reload can't change.
 */
import { setFlagsFromString } from "node:v8";
import { EXIT, type Logger, SvcError } from "@svc/contract";
import type { Gateway } from "@svc/gateway";
import { type ControlServer, startControl } from "@svc/gateway/control";
import { systemClock } from "@svc/kit/system-clock";
import { removeFiles } from "@svc/messaging";
import type { CommandContext } from "../../cli/command.ts";
import { openContext, prepareHome } from "../context.ts";
import { Reloader, sealAtRest } from "../reload.ts";
import { openService, workspacesOf } from "../open-service.ts";
import type { Service } from "../service.ts";
import { banner, pairingLines } from "./banner.ts";
import { controlHandlers } from "../control.ts";
import { daemonHandlers } from "../handlers/daemon.ts";
import { openGateway } from "./gateway.ts";
import { giveMemoryBack } from "./idle-memory.ts";

/** What all parts of a running daemon share. */
interface Daemon {
  readonly context: CommandContext;
  readonly service: Service;
  readonly gateway: Gateway;
  readonly reloader: Reloader;
  readonly restart: RestartRequest;
  readonly signals: Signals;
}

/** `svc daemon`: the service in the foreground, until it is told to stop. */
export async function run(context: CommandContext): Promise<number> {
  if (context.options.flag("json") && !context.startTrace) {
    throw new SvcError("USAGE", "svc daemon prints JSON only with --trace-start.", { hint: "See: svc daemon --help" });
  }
  const signals = listenToSignals();
  let firstRun = await prepareHome(context);
  for (;;) {
    const restart = new RestartRequest();
    await runOnce(context, signals, restart, firstRun);
    // A restart is another start, in a process that has loaded its code.
    context = { ...context, startTrace: undefined };
    if (!restart.wanted || signals.stopping) {
      exitSoon();
      return EXIT.ok;
    }
    firstRun = false;
  }
}

/** Everything is closed. A timer that a library left behind must not keep the process, and `svc stop`, for its thirty seconds. */
function exitSoon(): void {
  setTimeout(() => process.exit(), EXIT_AFTER_MS).unref();
}

const EXIT_AFTER_MS = 500;

async function runOnce(
  context: CommandContext,
  signals: Signals,
  restart: RestartRequest,
  firstRun: boolean,
): Promise<void> {
  const phase = (name: string): void => context.startTrace?.phase(name);
  phase("code of the command");
  const opened = await openContext(context);
  phase("config read");
  // Before, a trial of sandboxes would hold up the start.
  const served = Promise.withResolvers<void>();
  const service = await openService(opened, { signal: signals.hurry, isDaemon: true, served: served.promise, phase });
  try {
    await sealAtRest(service.context, service.config);
    phase("secrets sealed");
    const gateway = await openGateway(context, service);
    phase("gateway listening");
    served.resolve();
    const stopped = new AbortController();
    try {
      const reloader = new Reloader(service, gateway, stopped.signal);
      service.reload = () => reloader.reload();
      service.refresh = () => void reloader.refresh();
      await serve({ context, service, gateway, reloader, restart, signals }, firstRun);
    } finally {
      stopped.abort();
      await gateway.close(0);
    }
  } finally {
    served.resolve();
    await service.close(() => restart.between(service.context.log));
  }
}

/**
 * A request that comes as soon as the gateway listens is answered by then. The loops of features load their code first, and hold the event
 * loop for up to tenths of a second on a small machine.
 */
const LOOPS_AFTER_MS = 20;

/** From the moment everything is open until everything is drained. */
async function serve(daemon: Daemon, firstRun: boolean): Promise<void> {
  const { context, service, gateway, reloader, restart, signals } = daemon;
  const { startTrace: trace } = context;
  await systemClock.sleep(LOOPS_AFTER_MS);
  trace?.phase("first requests answered");
  const offerCode = (): void => {
    const code = gateway.pairing.initialCode();
    if (code) context.print(pairingLines(gateway, code, service.config.core["channels_config.webhook"]));
  };
  const { home, log } = service.context;
  const control = await startControl(home.controlSocket, controlHandlers(await daemonHandlers(daemon)), {
    log,
    clock: systemClock,
  });
  trace?.phase("control socket listening");
  const stopHousekeeping = keepHouse(service);
  const stopGivingBack = giveMemoryBack();
  try {
    service.lifecycle.execute();
    service.start();
    // What went wrong with it is in the log already.
    signals.onReload(() => void reloader.reload().catch(() => {}));
    followProcedures(service, reloader);
    // An end before the verdict has nothing to announce.
    const announce = (): void => {
      trace?.phase("sandbox probed");
      const report = trace?.report(gateway.url);
      if (context.options.flag("json")) return report && context.printJson(report);
      if (trace && report) context.print(trace.text(report));
      context.print(banner(context.build, service, gateway, firstRun));
      offerCode();
    };
    service.generation.probe.verdict.then(announce, () => {});
    // Who turns pairing on needs a code as whoever starts the service for the first time.
    reloader.onPairingRequired = offerCode;
    warmWhenIdle(service);
    void removeAbandoned(log);
    boundGarbage();
    await Promise.race([signals.stop, restart.asked]);
    await drain(daemon, control);
  } finally {
    stopHousekeeping();
    stopGivingBack();
    signals.onReload(undefined);
    await control.close(0);
  }
}

/**
 * Left alone, V8 lets garbage grow to several times the live heap before it looks (bench/README.md). Set when the start is over:
 * a changed flag voids the code cache of Node's own modules, and each one that is loaded after it is compiled.
 */
function boundGarbage(): void {
  setFlagsFromString("--heap-growing-percent=100");
}

/** What earlier daemons and commands left, that were killed. Never rejects. */
async function removeAbandoned(log: Logger): Promise<void> {
  try {
    const { removeAbandonedScratch } = await import("@svc/kit/files");
    const folders = await removeAbandonedScratch();
    if (folders > 0) log.info("removed temporary folders of ended processes", { folders });
  } catch {
    // The folder for temporary files can't be read: nothing was removed.
  }
}

/** Agents have the tools for procedures where there is one: the first to come and the last to go make other agents. */
function followProcedures(service: Service, reloader: Reloader): void {
  const { library } = service.governance;
  library.onChange(() => void reloader.followProcedures());
}

/** The control socket goes last: who stops the service wants to look at it, and turns of `svc chat` are turns too. */
async function drain({ service, gateway, signals: { hurry } }: Daemon, control: ControlServer): Promise<void> {
  const seconds = service.config.core.daemon.drain_secs;
  const endsAtMs = systemClock.monotonic() + seconds * 1000;
  const leftMs = (): number => (hurry.aborted ? 0 : Math.max(0, endsAtMs - systemClock.monotonic()));
  service.context.log.info("stopping: no new work is taken, running turns may finish", { seconds });
  const end = async (close: (graceMs: number) => Promise<void>): Promise<void> => {
    const closing = close(leftMs());
    const rush = (): void => void close(0);
    hurry.addEventListener("abort", rush, { once: true });
    await closing;
    hurry.removeEventListener("abort", rush);
  };
  // What a platform brings while its path closes is kept, and waits for the next start.
  await Promise.all([end((graceMs) => service.stop(graceMs)), end((graceMs) => gateway.close(graceMs))]);
  await end((graceMs) => control.close(graceMs));
}

/** The first turn must not wait for the model's library, and nobody else for its loading. */
function warmWhenIdle({ agent, config, context }: Service): void {
  if (config.core.model.provider === "builtin") return;
  systemClock.after(1000, () => {
    agent.warm().catch((error: unknown) => context.log.warn("the model could not be loaded", { error: String(error) }));
  });
}

/** Somebody wants the service to stop and come again in this process. */
class RestartRequest {
  readonly #asked = Promise.withResolvers<void>();
  #wanted = false;
  #between: (() => void) | undefined;

  /** Resolves when it is wanted. */
  get asked(): Promise<void> {
    return this.#asked.promise;
  }

  get wanted(): boolean {
    return this.#wanted;
  }

  /** `between` is called while nothing is open and the home is still locked. Of two requests the first one counts. */
  ask(between?: () => void): boolean {
    if (this.#wanted) return false;
    this.#wanted = true;
    this.#between = between;
    this.#asked.resolve();
    return true;
  }

  /** What fails in between must not keep the service down: it comes again with what is there. */
  between(log: Logger): void {
    try {
      this.#between?.();
    } catch (error) {
      log.error("what was to be done before the restart failed", { error: String(error) });
    }
  }
}

/**
 * What the daemon is told by signals.
 *
 *   SIGTERM, SIGINT   no new work (503), running turns get daemon.drain_secs, then they are cancelled; exit 0
 *   a second one      running turns are cancelled at once
 *   SIGHUP            the config is read again
 */
interface Signals {
  /** Resolves at the first request to stop. */
  readonly stop: Promise<void>;
  /** Whether it has come. */
  readonly stopping: boolean;
  /** Aborted at the second. */
  readonly hurry: AbortSignal;
  /** Called at SIGHUP from now on, in place of what was, and at once for one that came while there was none. */
  onReload(reload: (() => void) | undefined): void;
}

/** From the first call on, none of them ends the process by itself. */
function listenToSignals(): Signals {
  const hurry = new AbortController();
  const stop = Promise.withResolvers<void>();
  let reload: (() => void) | undefined;
  // The start may have read the config before it was changed.
  let isReloadAsked = false;
  let asked = false;
  const onStop = (): void => {
    if (asked) hurry.abort();
    asked = true;
    stop.resolve();
  };
  process.on("SIGTERM", onStop);
  process.on("SIGINT", onStop);
  // On Windows it means that the console window was closed, and the system ends the process whatever we do.
  if (process.platform !== "win32") process.on("SIGHUP", () => (reload ? reload() : (isReloadAsked = true)));
  return {
    stop: stop.promise,
    get stopping() {
      return asked;
    },
    hurry: hurry.signal,
    onReload: (next) => {
      reload = next;
      if (!next || !isReloadAsked) return;
      isReloadAsked = false;
      next();
    },
  };
}

/** What keeps the database bounded: old conversations and journals go, a few at a time, once an hour. */
const FIRST_AFTER_MS = 60_000;
const EVERY_MS = 3_600_000;

/** Call the result to stop. */
function keepHouse(service: Service): () => void {
  let stopped = false;
  let cancel = systemClock.after(FIRST_AFTER_MS, round);
  function round(): void {
    void prune(service).finally(() => {
      if (!stopped) cancel = systemClock.after(EVERY_MS, round);
    });
  }
  return () => {
    stopped = true;
    cancel();
  };
}

async function prune(service: Service): Promise<void> {
  const { store, agent, attachments, config, context } = service;
  const { retention, gateway } = config.core;
  const limits = {
    sessionDays: retention.session_days,
    maxSessions: retention.max_sessions,
    toolCallDays: retention.tool_call_days,
    messageDays: retention.message_days,
    pageSessionDays: gateway.page_session_days,
  };
  try {
    const gone = await store.prune(limits, systemClock.now(), (messages) =>
      removeFiles(workspacesOf(service.generation), context.log, messages),
    );
    const files = await attachments.sweep();
    // Conversations in memory are read again, or the model would still be told what is gone.
    if (gone.sessions > 0) agent.reread();
    const all = { ...gone, files };
    if (Object.values(all).some((count) => count > 0)) context.log.info("old data was removed", all);
  } catch (error) {
    context.log.warn("old data could not be removed", { error: String(error) });
  }
}
