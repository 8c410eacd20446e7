// An answer must reach its reader once, by a way that the reader listens on, and tell nobody else who talks with whom.
import { SvcError } from "@svc/contract";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { relaynetPerson, type RelaynetPerson } from "@svc/testkit/platforms/relaynet/people";
import { type Relaynet, startRelaynet } from "@svc/testkit/platforms/relaynet/server";
import { finalizeEvent } from "nostr-tools/pure";
import { describe, expect, test } from "vitest";
import { ADA, AGENT, EVE, eventually, failureOf, message, never, open, run } from "./fixture.ts";

const people = [ADA, EVE, AGENT];

/** Their app tells where they read. */
const announce = (
  relay: Relaynet,
  person: RelaynetPerson,
  kind: 10_050 | 10_002,
  urls: readonly (readonly string[])[],
) =>
  relay.publish(
    finalizeEvent(
      {
        kind,
        created_at: Math.floor(Date.now() / 1000),
        tags: urls.map((url) => [kind === 10_050 ? "relay" : "r", ...url]),
        content: "",
      },
      person.secretKey,
    ),
  );

const sectionOf = (...relays: readonly Relaynet[]) => ({ relays: relays.map(({ relay }) => relay) });
const kindsOn = ({ events }: Relaynet): number[] => events.map(({ kind }) => kind);

describe("protocols", () => {
  test("an answer goes out by the protocol of the question, and names it", async () => {
    await using relay = await startRelaynet({ people });
    const { channel } = open(sectionOf(relay));
    const id = "cd".repeat(32);
    const legacy = await channel.send(message("old", { replyData: { id, protocol: "legacy" } }), never);
    const wrapped = await channel.send(message("new", { replyData: { id, protocol: "wrapped" } }), never);
    expect(relay.sent).toEqual([
      { id: legacy.platformId, text: "old", from: AGENT.pubkey, to: ADA.pubkey, protocol: "legacy" },
      { id: wrapped.platformId, text: "new", from: AGENT.pubkey, to: ADA.pubkey, protocol: "wrapped" },
    ]);
    expect(relay.events.find(({ kind }) => kind === 4)?.tags).toContainEqual(["e", id, "", "reply"]);
  });

  test("what nobody asked for is gift-wrapped, with a copy for our own account, and dated back", async () => {
    await using relay = await startRelaynet({ people });
    const { channel } = open(sectionOf(relay));
    await channel.send(message("news"), never);
    expect(kindsOn(relay)).toEqual([1059, 1059]);
    expect(relay.events.map(({ tags }) => tags).toSorted()).toEqual(
      [[["p", ADA.pubkey]], [["p", AGENT.pubkey]]].toSorted(),
    );
    for (const { pubkey, created_at: atSecs } of relay.events) {
      expect([AGENT.pubkey, ADA.pubkey]).not.toContain(pubkey);
      expect(atSecs).toBeLessThanOrEqual(Date.now() / 1000);
      expect(atSecs).toBeGreaterThan(Date.now() / 1000 - 172_900);
    }
  });

  test("a public key in hexadecimal digits opens the conversation of its npub; anything else is refused", async () => {
    await using relay = await startRelaynet({ people });
    const { channel } = open(sectionOf(relay));
    const receipt = await channel.send(message("hi", { conversation: { channel: "relaynet", id: ADA.pubkey } }), never);
    expect(receipt.opened).toEqual({ channel: "relaynet", id: ADA.npub });
    const refused = message("hi", { conversation: { channel: "relaynet", id: "ada" } });
    expect(await failureOf(channel.send(refused, never))).toMatchObject({ code: "DELIVERY_REFUSED" });
  });
});

describe("relays of the reader", () => {
  test("gift wraps go to the reader's inbox relays alone; our copy stays on ours", async () => {
    await using ours = await startRelaynet({ people });
    await using theirs = await startRelaynet({ people });
    await announce(ours, ADA, 10_050, [[theirs.relay]]);
    const { channel } = open(sectionOf(ours, theirs));
    await channel.send(message("for her inbox"), never);
    expect(theirs.sent).toMatchObject([{ text: "for her inbox", protocol: "wrapped" }]);
    expect(ours.sent).toEqual([]);
    const copies = ours.events.filter(({ kind }) => kind === 1059);
    expect(copies.map(({ tags }) => tags)).toEqual([[["p", AGENT.pubkey]]]);
  });

  test("an inbox relay that is down is tried again, and no other is handed the message instead", async () => {
    await using ours = await startRelaynet({ people });
    await announce(ours, ADA, 10_050, [["wss://inbox.example.org"]]);
    const { channel } = open(sectionOf(ours), {
      resolve: async (url) => {
        if (new URL(url).hostname === "127.0.0.1") return ["127.0.0.1"];
        throw new SvcError("REMOTE_UNREACHABLE");
      },
    });
    expect(await failureOf(channel.send(message("secret"), never))).toMatchObject({ code: "REMOTE_UNREACHABLE" });
    expect(ours.sent).toEqual([]);
  });

  test("the relay list of a person leads into no private network; such a list is as good as none", async () => {
    await using ours = await startRelaynet({ people });
    await using inside = await startRelaynet({ people });
    for (const kind of [10_050, 10_002] as const) {
      await announce(ours, ADA, kind, [[inside.relay], ["wss://10.0.0.1"], ["http://127.0.0.1/"], ["wss://a@b.test"]]);
    }
    // Whatever security.net.allow_private lets the operator's own URLs reach.
    const { channel } = open(sectionOf(ours), { resolve: async (url) => [new URL(url).hostname] });
    await channel.send(message("hello"), never);
    const legacy = { id: "ab".repeat(32), protocol: "legacy" };
    await channel.send(message("hello again", { replyData: legacy }), never);
    expect(inside.requests).toEqual([]);
    expect(ours.sent.map(({ text }) => text)).toEqual(["hello", "hello again"]);
  });

  test("a list that its author has not signed is none", async () => {
    await using ours = await startRelaynet({ people });
    const forged = finalizeEvent(
      {
        kind: 10_050,
        created_at: Math.floor(Date.now() / 1000) + 60,
        tags: [["relay", "wss://evil.example.org"]],
        content: "",
      },
      EVE.secretKey,
    );
    await using lying = await startRelaynet({
      people,
      vice: (event) => [event, { ...forged, pubkey: ADA.pubkey }],
    });
    await announce(lying, ADA, 10_050, [[ours.relay]]);
    const asked: string[] = [];
    const { channel } = open(sectionOf(lying, ours), {
      resolve: async (url) => {
        asked.push(new URL(url).hostname);
        return ["127.0.0.1"];
      },
    });
    await channel.send(message("hello"), never);
    expect(asked).not.toContain("evil.example.org");
    expect(ours.sent).toMatchObject([{ text: "hello" }]);
  });

  test("an answer of the legacy protocol goes to our relays and to those that the reader reads", async () => {
    await using ours = await startRelaynet({ people });
    await using both = await startRelaynet({ people });
    await announce(ours, ADA, 10_002, [
      [both.relay, "read"],
      ["wss://only-written.example.org", "write"],
    ]);
    const { channel } = open(sectionOf(ours, both));
    await channel.send(message("old", { replyData: { id: "ab".repeat(32), protocol: "legacy" } }), never);
    expect(ours.sent).toHaveLength(1);
    expect(both.sent).toHaveLength(1);
  });
});

describe("several relays", () => {
  test("one that took it is enough; the others are handed it again until they take it", async () => {
    await using first = await startRelaynet({ people });
    await using second = await startRelaynet({ people });
    await using running = await run(sectionOf(first, second));
    await eventually(() => first.connections > 0 && second.connections > 0);
    second.mood = { refuses: 503 };
    const receipt = await running.channel.send(message("hello"), never);
    expect(receipt.platformId).toBeDefined();
    expect(first.sent).toHaveLength(1);
    expect(second.sent).toEqual([]);
    second.mood = "takes";
    await eventually(async () => {
      await running.context.clock.advance(1_000);
      return second.events.length === 2;
    });
    expect(second.sent).toEqual(first.sent);
    expect(new Set(second.events.map(({ id }) => id))).toEqual(new Set(first.events.map(({ id }) => id)));
  });

  test("a try in the next process hands out the very same events", async () => {
    await using relay = await startRelaynet({ people });
    const state = memorySecrets();
    const twice = message("once");
    relay.mood = "loses answers";
    expect(await failureOf(open(sectionOf(relay), { state }).channel.send(twice, never))).toMatchObject({
      code: "REMOTE_UNREACHABLE",
    });
    relay.mood = "takes";
    await open(sectionOf(relay), { state }).channel.send(twice, never);
    expect(relay.sent).toHaveLength(1);
    expect(relay.events).toHaveLength(2);
    const other = relaynetPerson("other agent");
    const section = { ...sectionOf(relay), private_key: other.nsec };
    await open(section, { state }).channel.send(twice, never);
    expect(relay.sent.map(({ from }) => from)).toEqual([AGENT.pubkey, other.pubkey]);
  });

  test("all of them refuse: whether a later try may help", async () => {
    await using first = await startRelaynet({ people });
    await using second = await startRelaynet({ people });
    const { channel } = open(sectionOf(first, second));
    const failing = async (...moods: readonly Relaynet["mood"][]) => {
      [first.mood, second.mood] = moods as [Relaynet["mood"], Relaynet["mood"]];
      return (await failureOf(channel.send(message("x"), never))).code;
    };
    expect(await failing({ refuses: 400 }, { refuses: 400 })).toBe("DELIVERY_REFUSED");
    expect(await failing({ refuses: 401 }, { refuses: 401 })).toBe("CHANNEL_UNAUTHORIZED");
    expect(await failing({ refuses: 401 }, { refuses: 503 })).toBe("REMOTE_UNREACHABLE");
    expect(await failing("resets", { refuses: 400 })).toBe("REMOTE_UNREACHABLE");
  });
});

describe("who is there", () => {
  test("a relay of ours that demands to know it is told, and takes the message", async () => {
    await using relay = await startRelaynet({ people, demandsAuth: true });
    const { channel } = open(sectionOf(relay));
    await channel.send(message("hello"), never);
    expect(relay.sent).toHaveLength(1);
  });

  test("check tells the account and what is left to do, setup does it", async () => {
    await using up = await startRelaynet({ people });
    await using down = await startRelaynet({ people });
    down.mood = { refuses: 503 };
    const { channel } = open(sectionOf(up, down));
    expect(await channel.check(never)).toBe(
      `${AGENT.npub}: 1 of 2 relays answer; ${down.relay}: REMOTE_UNREACHABLE; apps do not find it yet: run svc channels setup relaynet`,
    );
    const done = await channel.setup({ url: "" }, never);
    expect(done).toContain("on 1 of 2 relays");
    expect(kindsOn(up).toSorted()).toEqual([10_002, 10_050]);
    expect(up.events.map(({ tags }) => tags)).toContainEqual([
      ["relay", up.relay],
      ["relay", down.relay],
    ]);
    expect(await channel.check(never)).not.toContain("svc channels setup");
  });

  test("the private key appears in no log line, error or stored text", async () => {
    await using relay = await startRelaynet({ people });
    const state = memorySecrets();
    const { channel, context } = open(sectionOf(relay), { state });
    await channel.send(message("hello"), never);
    await channel.check(never);
    relay.mood = { refuses: 401 };
    const failure = await failureOf(channel.send(message("again"), never));
    const stored = await Promise.all((await state.list()).map((name) => state.get(name)));
    const all = JSON.stringify([context.log.lines, failure.message, failure.hint, stored]);
    for (const form of [AGENT.nsec, Buffer.from(AGENT.secretKey).toString("hex")]) expect(all).not.toContain(form);
    expect(relaynetPerson("agent").nsec).toBe(AGENT.nsec);
  });
});
