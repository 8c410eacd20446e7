/** What waits or runs for somebody who was shut out, dropped. What is missed here is dropped when its turn comes (`placeOf`). */
import type { ClientId, Logger } from "@svc/contract";
import type { Store } from "@svc/store";
import { incomingId } from "./inbox/parts.ts";
import { lanesOfOwner } from "./session-message.ts";
import type { Mailbox } from "./types.ts";

export interface DropParts {
  readonly store: Pick<Store, "inbox">;
  readonly mailbox: Pick<Mailbox, "drop">;
  readonly log: Logger;
}

/** Never rejects. */
export async function dropOf(owner: ClientId, { store, mailbox, log }: DropParts): Promise<void> {
  const beginning = lanesOfOwner(owner);
  for (const { n, lane } of store.inbox.waiting()) {
    if (!lane.startsWith(beginning)) continue;
    await mailbox.drop(incomingId(n)).catch((error: unknown) => {
      log.warn("a message of somebody who was shut out could not be dropped yet", { error: String(error) });
    });
  }
}
