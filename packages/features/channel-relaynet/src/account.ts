/** Who the account is, whether its relays answer, and where people find it. */
import type { Channel, FeatureContext } from "@svc/contract";
import { checkFailureOf } from "@svc/kit";
import type { Config } from "./config.ts";
import { type Identity, KIND, relayLists } from "./protocol.ts";
import { commonFailure, type Outcome, type Relays } from "./relays.ts";

export interface AccountDeps {
  readonly context: Pick<FeatureContext<Config>, "clock">;
  readonly identity: Identity;
  readonly relays: Relays;
}

export function accountOf({ context, identity, relays }: AccountDeps): Required<Pick<Channel, "check" | "setup">> {
  const { npub, pubkey } = identity;
  return {
    async check(signal) {
      const filter = { kinds: [KIND.inboxRelays], authors: [pubkey], limit: 1 };
      const outcomes = await relays.useAll(relays.own, (relay) => relay.query(filter, signal), signal);
      const failed = demandOne(outcomes);
      const isAnnounced = outcomes.some((one) => one.isDone && one.value.length > 0);
      const answering = `${outcomes.length - failed.length} of ${outcomes.length} relays answer`;
      const todo = isAnnounced ? "" : "; apps do not find it yet: run svc channels setup relaynet";
      return `${npub}: ${answering}${failed.map(({ url, error }) => `; ${url}: ${error.code}`).join("")}${todo}`;
    },
    async setup(_options, signal) {
      const events = relayLists(relays.own, Math.floor(context.clock.now() / 1000), identity);
      const outcomes = await relays.useAll(
        relays.own,
        async (relay) => {
          for (const event of events) await relay.publish(event, signal);
        },
        signal,
      );
      const failed = demandOne(outcomes);
      return [
        `The account is ${npub}. Its relay lists are on ${outcomes.length - failed.length} of ${outcomes.length} relays, so apps find it.`,
        ...failed.map(({ url, error }) => `${url} did not take them: ${error.code}`),
      ].join("\n");
    },
  };
}

/** Those that failed. Throws when all did. */
function demandOne<T>(outcomes: readonly Outcome<T>[]): Extract<Outcome<T>, { isDone: false }>[] {
  const failed = outcomes.filter((one) => !one.isDone);
  if (failed.length === outcomes.length) throw checkFailureOf(commonFailure(failed.map(({ error }) => error)));
  return failed;
}
