/** A command said on a channel: settled, with its answer, in one transaction that also ends its message, in the order of its lane. */
import { type Channel, SvcError } from "@svc/contract";
import type { Delivery } from "@svc/store";
import { type Command, commandOf } from "../../commands/command.ts";
import { outgoingRows } from "../channel-send/outgoing-rows.ts";
import { sessionIn } from "../session-message.ts";
import type { Attempt } from "./attempt.ts";
import type { InboxParts } from "./parts.ts";

/**
 * A file that comes with the word is for the agent. So is a message whose turn has begun: what it did must have its end. And so is
 * what a program asks by HTTP, whether it waits for the answer or not.
 */
export function commandIn({ store }: InboxParts, { inbound, message }: Attempt): Command | undefined {
  const command = commandOf(inbound.text);
  if (!command || sessionIn(message.lane) || inbound.choice || (inbound.media ?? []).length > 0) return undefined;
  return store.steps.of(message.turnId).length === 0 ? command : undefined;
}

/** Rejects with STORE_*, AGENT_UNKNOWN, and with MESSAGE_STATE when the message was dropped meanwhile; then nothing has changed. */
export async function runCommand(
  parts: InboxParts,
  { inbound, message }: Attempt,
  channel: Channel,
  command: Command,
): Promise<void> {
  const { store, agent, clock, identity, dispatcher, settings, waitingBehind } = parts;
  const { n, lane, turnId } = message;
  const { conversation, replyData } = inbound;
  const name = settings().agentOf(message.channel);
  let deliveries: readonly Delivery[] = [];
  await agent.command({
    command,
    owner: identity.channel(message.channel),
    session: lane,
    waiting: waitingBehind(lane),
    ...(name !== undefined && { agent: name }),
    alongside(text) {
      if (!store.inbox.end(n, "done")) throw new SvcError("MESSAGE_STATE");
      const rows = outgoingRows(channel, { conversation, replyData, turnId, text, files: [] });
      deliveries = store.outbox.add(rows, clock.now());
    },
  });
  dispatcher.wake(deliveries);
}
