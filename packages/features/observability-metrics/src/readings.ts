/** Values that are read at each scrape: the process and the state of the service. */
import { readFile, readdir } from "node:fs/promises";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { type Clock, type Logger, type Readings, SvcError } from "@svc/contract";
import { Counter, Gauge, type Registry } from "prom-client";
import { LabelValues } from "./series.ts";

/** Sampling interval of the event loop: 50 samples a second take 0.4 % of an idle core. */
const LOOK_MS = 20;

export interface ProcessSeries {
  /** Updates the series to current values. Never rejects. */
  refresh(): Promise<void>;
  close(): void;
}

/**
 * The process, under the names that dashboards for Node.js know. Not by prom-client's `collectDefaultMetrics`: its observer of
 * garbage collections and its monitor of the event loop can't be stopped, so each reload would leak a pair of them.
 */
export function openProcess(registry: Registry, clock: Clock): ProcessSeries {
  const registers = [registry];
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
  const cpu = {
    user: counter("process_cpu_user_seconds_total", "Seconds of CPU time in the program."),
    system: counter("process_cpu_system_seconds_total", "Seconds of CPU time in the system on its behalf."),
    both: counter("process_cpu_seconds_total", "Seconds of CPU time, of user and system."),
  };
  const memory = {
    rss: gauge("process_resident_memory_bytes", "Resident memory in bytes."),
    heapTotal: gauge("nodejs_heap_size_total_bytes", "Size of the JavaScript heap in bytes."),
    heapUsed: gauge("nodejs_heap_size_used_bytes", "Bytes of the JavaScript heap in use."),
    external: gauge("nodejs_external_memory_bytes", "Bytes of memory held by JavaScript objects outside of the heap."),
  };
  const lag = {
    mean: gauge("nodejs_eventloop_lag_mean_seconds", "Mean delay of the event loop since the last scrape, in seconds."),
    p50: gauge("nodejs_eventloop_lag_p50_seconds", "Median delay of the event loop since the last scrape, in seconds."),
    p99: gauge("nodejs_eventloop_lag_p99_seconds", "99th percentile of the same."),
    max: gauge(
      "nodejs_eventloop_lag_max_seconds",
      "Longest delay of the event loop since the last scrape, in seconds.",
    ),
  };
  const active = counter("nodejs_eventloop_active_seconds_total", "Seconds in which the event loop did something.");
  const descriptors = {
    open: gauge("process_open_fds", "Open file descriptors."),
    most: gauge("process_max_fds", "Most file descriptors that may be open."),
  };
  gauge("process_start_time_seconds", "When the process started, in seconds since the epoch.").set(
    clock.now() / 1000 - process.uptime(),
  );
  const version = new Gauge({
    name: "nodejs_version_info",
    help: "The version of Node.js: always 1.",
    labelNames: ["version"],
    registers,
  });
  version.set({ version: process.version }, 1);

  const monitor = monitorEventLoopDelay({ resolution: LOOK_MS });
  monitor.enable();

  return {
    async refresh() {
      const { user, system } = process.cpuUsage();
      reach(cpu.user, user / 1e6);
      reach(cpu.system, system / 1e6);
      reach(cpu.both, (user + system) / 1e6);
      const used = process.memoryUsage();
      for (const [name, one] of Object.entries(memory)) one.set(used[name as keyof typeof memory]);
      reach(active, performance.eventLoopUtilization().active / 1000);
      if (monitor.count > 0) {
        lag.mean.set(lagSeconds(monitor.mean));
        lag.p50.set(lagSeconds(monitor.percentile(50)));
        lag.p99.set(lagSeconds(monitor.percentile(99)));
        lag.max.set(lagSeconds(monitor.max));
        monitor.reset();
      }
      const [open, most] = await Promise.all([openDescriptors(), mostDescriptors()]);
      for (const [one, value] of [
        [descriptors.open, open],
        [descriptors.most, most],
      ] as const) {
        if (value === undefined) one.remove();
        else one.set(value);
      }
    },
    close: () => void monitor.disable(),
  };
}

/** The system counts these from the beginning of the process, so a reload does not start them again. */
function reach(counter: Counter, total: number): void {
  counter.reset();
  counter.inc(total);
}

/** The monitor reports nanoseconds between two samples; most of that is the sampling interval itself. */
const lagSeconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - LOOK_MS / 1000);

/** Undefined without /proc. */
const openDescriptors = async (): Promise<number | undefined> => {
  const names = await readdir("/proc/self/fd").catch(() => undefined);
  // One of them is the look itself.
  return names && names.length - 1;
};

const mostDescriptors = async (): Promise<number | undefined> => {
  const limits = await readFile("/proc/self/limits", "utf8").catch(() => "");
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return soft === undefined ? undefined : Number(soft);
};

/** The state of the service: inbox, outbox, and so on. The result sets the gauges to the current values; unknown ones are left out. Never throws. */
export function openReadings(registry: Registry, read: () => Readings, log: Logger): () => void {
  const values = new LabelValues();
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge<Label>({ name, help, labelNames, registers: [registry] });

  const numbers = {
    inbox: gauge("svc_inbox_messages", "Messages of channels that wait for their turn or are in it."),
    inboxAge: gauge("svc_inbox_oldest_age_seconds", "Seconds since the oldest of them came; 0 without any."),
    outbox: gauge("svc_outbox_messages", "Messages that wait to be delivered."),
    outboxAge: gauge("svc_outbox_oldest_age_seconds", "Seconds since the oldest of them was written; 0 without any."),
    approvals: gauge("svc_approvals_waiting", "Pending approvals."),
    sopRuns: gauge("svc_sop_runs_active", "Runs of procedures that have not ended."),
    turns: gauge("svc_turns_running", "Turns that run now."),
    subscribers: gauge("svc_event_subscribers", "Subscribers of events: pages and programs."),
    connections: gauge("svc_connections", "Connections to the gateway that are open."),
    devices: gauge("svc_devices_paired", "Devices that are paired."),
  };
  const dead = gauge("svc_dead_letters", "Failed messages that an operator has not replayed or dropped yet.", [
    "queue",
  ]);
  const up = gauge("svc_feature_up", "Whether a feature that is on is in service: 1 or 0.", ["feature"]);
  let hasFailed = false;

  const show = (now: Readings): void => {
    numbers.inbox.set(now.inbox.count);
    numbers.inboxAge.set(now.inbox.oldestAgeMs / 1000);
    numbers.outbox.set(now.outbox.count);
    numbers.outboxAge.set(now.outbox.oldestAgeMs / 1000);
    numbers.approvals.set(now.approvalsWaiting);
    numbers.sopRuns.set(now.sopRuns);
    numbers.turns.set(now.turnsRunning);
    numbers.subscribers.set(now.eventSubscribers);
    numbers.connections.set(now.connections);
    numbers.devices.set(now.devices);
    dead.set({ queue: "inbox" }, now.dead.received);
    dead.set({ queue: "outbox" }, now.dead.toSend);
    up.reset();
    for (const { id, isUp } of now.features) up.set({ feature: values.of("feature", id) }, isUp ? 1 : 0);
  };
  return () => {
    try {
      show(read());
      hasFailed = false;
    } catch (error) {
      // No number is better than an old one: alerts see that it is missing.
      for (const one of Object.values(numbers)) one.remove();
      dead.reset();
      up.reset();
      const code = error instanceof SvcError ? error.code : "INTERNAL";
      if (!hasFailed)
        log.warn("how the service stands can't be told; its numbers are missing from the metrics", { code });
      hasFailed = true;
    }
  };
}
