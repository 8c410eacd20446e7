/** The daemon as it is when everything has been set up. */
import type { House } from "../house/house.ts";
import { InboxView } from "../house/inbox.ts";
import { eventually } from "../house/sleep.ts";

export async function firstLife({ lives, providers }: House): Promise<InboxView> {
  await lives.begin();
  if (!(await eventually(() => providers.every((provider) => provider.isReady())))) {
    throw new Error(`a channel does not get ready:\n${lives.output()}`);
  }
  return new InboxView(lives, await lives.daemon.pair());
}
