/** What keeps the database bounded: old conversations and journals go, a few at a time, once an hour. */
import { removeFiles } from "@svc/messaging";
import { systemClock } from "@svc/kernel";
import type { Service } from "../service.ts";
import { workspacesOf } from "../workspaces.ts";

const FIRST_AFTER_MS = 60_000;
const EVERY_MS = 3_600_000;

/** Call the result to stop. */
export function keepHouse(service: Service): () => void {
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
