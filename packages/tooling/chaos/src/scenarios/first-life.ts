/** The daemon as it is when everything has been set up. */
import type { Fixture } from "../fixture/fixture.ts";
import { InboxView } from "../fixture/inbox.ts";
import { eventually } from "../fixture/sleep.ts";

export async function firstLife({ lives, providers }: Fixture): Promise<InboxView> {
  await lives.begin();
  if (!(await eventually(() => providers.every((provider) => provider.isReady())))) {
    throw new Error(`a channel does not get ready:\n${lives.output()}`);
  }
  return new InboxView(lives, await lives.daemon.pair());
}
