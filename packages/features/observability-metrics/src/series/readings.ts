/** How the service stands, asked anew for each text. */
import { type Logger, type Readings, SvcError } from "@svc/contract";
import { Gauge, type Registry } from "prom-client";
import { LabelValues } from "./label-values.ts";

/** The result sets the gauges to the current values; unknown ones are left out. Never throws. */
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
