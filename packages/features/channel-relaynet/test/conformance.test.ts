// What every feature and every channel keeps, against a real relay that checks what it is handed.
import { channelConformance } from "@svc/testkit/conformance/channel-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import type { RelaynetProtocol } from "@svc/testkit/platforms/relaynet/people";
import type { Relaynet } from "@svc/testkit/platforms/relaynet/server";
import type { FeatureDefinition } from "@svc/contract";
import definition from "../src/index.ts";
import { ADA, AGENT, EVE, platform, SECTION } from "./fixture.ts";

const root = `${import.meta.dirname}/..`;

featureConformance(definition, { root, config: SECTION });

/** Times have seconds: what people write one after the other is written in different ones. */
const written = new WeakMap<Relaynet, number>();
const nextMs = (relay: Relaynet, atMs: number): number => {
  const seconds = (written.get(relay) ?? 0) + 1;
  written.set(relay, seconds);
  return atMs + seconds * 1_000;
};

for (const protocol of ["wrapped", "legacy"] as const satisfies readonly RelaynetProtocol[]) {
  const people = new Map([ADA, EVE].map((person) => [person.npub, person]));
  channelConformance<Relaynet>(definition as unknown as FeatureDefinition, {
    root,
    platform,
    config: ({ relay }) => ({ ...SECTION, relays: [relay] }),
    conversation: () => ({ id: ADA.npub }),
    ownTextLimit: true,
    idempotent: true,
    // Any private key is an account.
    checkProves: "reachability",
    arrivals: {
      person: ADA.npub,
      stranger: EVE.npub,
      async write(relay, { from, text, atMs }) {
        const sender = people.get(from)!;
        await relay.write({ from: sender, to: AGENT.pubkey, text, atMs: nextMs(relay, atMs), protocol });
      },
      async writeOwn(relay, { text, atMs }) {
        await relay.write({ from: AGENT, to: AGENT.pubkey, text, atMs: nextMs(relay, atMs), protocol });
      },
      disconnect: (relay) => relay.disconnect(),
    },
  });
}
