// What strangers and relays hand over must never be answered in another's name, nor twice, nor be lost.
import type { Inbound } from "@svc/contract";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import {
  relaynetEvent,
  relaynetForgeries,
  type RelaynetMessage,
  relaynetPerson,
  relaynetWrap,
} from "@svc/testkit/platforms/relaynet/people";
import { type Relaynet, startRelaynet } from "@svc/testkit/platforms/relaynet/server";
import { describe, expect, test } from "vitest";
import { identityOf } from "../src/protocol.ts";
import { openRelay } from "../src/relays.ts";
import { ADA, afterAWhile, AGENT, EVE, eventually, never, run, type Running } from "./fixture.ts";

const DAY_MS = 86_400_000;
const PROTOCOLS = ["wrapped", "legacy"] as const;

const said = (text: string, more: Partial<RelaynetMessage> = {}): RelaynetMessage => ({
  from: ADA,
  to: AGENT.pubkey,
  text,
  atMs: Date.now() + 1_000,
  protocol: "wrapped",
  ...more,
});

const texts = ({ context }: Pick<Running, "context">): string[] => context.received.map(({ text }) => text);

async function connected(
  relays: readonly Relaynet[],
  given: Parameters<typeof run>[1] = {},
  section = {},
): Promise<Running> {
  const running = await run({ relays: relays.map(({ relay }) => relay), ...section }, given);
  const isUp = (): boolean => running.context.log.text().includes("the platform knows this channel");
  await eventually(() => isUp() || running.failure() !== undefined);
  expect(running.failure()).toBeUndefined();
  return running;
}

describe("a message", () => {
  test.each(PROTOCOLS)("%s: who wrote it, when, in reply to what", async (protocol) => {
    await using relay = await startRelaynet();
    await using running = await connected([relay]);
    const answers = "ab".repeat(32);
    const event = await relay.write(said("Hello", { protocol, answers }));
    await eventually(() => running.context.received.length > 0);
    const [message] = running.context.received as [Inbound];
    expect(message).toMatchObject({
      conversation: { channel: "relaynet", id: ADA.npub },
      sender: ADA.npub,
      text: "Hello",
      repliesTo: answers,
      replyData: { protocol },
    });
    expect(message.sequence).toBe(message.sentAtMs! / 1000);
    // A wrap is one of many around the same message.
    expect(message.id === event.id).toBe(protocol === "legacy");
  });

  test("of a file its type is told", async () => {
    await using relay = await startRelaynet();
    await using running = await connected([relay]);
    const rumor = {
      kind: 15,
      created_at: Math.floor(Date.now() / 1000) + 1,
      tags: [
        ["p", AGENT.pubkey],
        ["file-type", "image/png"],
      ],
      content: "https://files.example.org/x",
      pubkey: ADA.pubkey,
    };
    await relay.publish(relaynetWrap(rumor, ADA, AGENT.pubkey, rumor.created_at));
    await eventually(() => running.context.received.length > 0);
    expect(texts(running)).toEqual(["[file: image/png]"]);
  });

  test("what is to several people, or to somebody else, is not answered", async () => {
    await using relay = await startRelaynet();
    await using running = await connected([relay]);
    const rumor = (tags: string[][]) => ({
      kind: 14,
      created_at: Math.floor(Date.now() / 1000) + 1,
      tags,
      content: "to others",
      pubkey: ADA.pubkey,
    });
    for (const tags of [
      [
        ["p", AGENT.pubkey],
        ["p", EVE.pubkey],
      ],
      [["p", EVE.pubkey]],
      [],
    ]) {
      await relay.publish(relaynetWrap(rumor(tags), ADA, AGENT.pubkey, Math.floor(Date.now() / 1000)));
    }
    await relay.write(said("to us"));
    await eventually(() => texts(running).includes("to us"));
    expect(texts(running)).toEqual(["to us"]);
  });
});

describe("forged", () => {
  test("events in somebody's name are refused, each for its reason, and genuine ones with their ids are not kept out", async () => {
    await using relay = await startRelaynet();
    await using running = await connected([relay]);
    const reasons = new Set<string>();
    for (const protocol of PROTOCOLS) {
      const genuine = said(`genuine, ${protocol}`, { protocol });
      const event = relaynetEvent(genuine);
      for (const forged of relaynetForgeries(genuine, "forged")) relay.tell(forged);
      relay.tell({ ...event, content: relaynetEvent(said("other")).content });
      relay.tell({ ...event, sig: "0".repeat(128) });
      await relay.publish(event);
    }
    await eventually(() => running.context.received.length === 2);
    await afterAWhile();
    expect(texts(running).toSorted()).toEqual(["genuine, legacy", "genuine, wrapped"]);
    for (const { fields } of running.context.log.lines) if (fields?.["reason"]) reasons.add(String(fields["reason"]));
    expect([...reasons].toSorted()).toEqual([
      "its seal is of another author",
      "its signature is wrong",
      "the signature of its seal is wrong",
    ]);
  });

  test("a relay that hands over what is wrong in every way is told of once for each reason", async () => {
    await using relay = await startRelaynet();
    await using running = await connected([relay]);
    const event = relaynetEvent(said("x", { protocol: "legacy" }));
    for (let times = 0; times < 50; times += 1) relay.tell({ ...event, content: `${times}` });
    await relay.write(said("after it"));
    await eventually(() => texts(running).includes("after it"));
    const warned = running.context.log.lines.filter(({ message }) => message.includes("is not answered"));
    expect(warned).toHaveLength(1);
  });
});

describe("each message once", () => {
  test("over three relays, one of which repeats itself and one of which hands over the same in another wrap", async () => {
    await using first = await startRelaynet();
    await using second = await startRelaynet({ vice: (event) => [event, event] });
    await using third = await startRelaynet();
    await using running = await connected([first, second, third]);
    const rumor = (text: string) => ({
      kind: 14,
      created_at: Math.floor(Date.now() / 1000) + 1,
      tags: [["p", AGENT.pubkey]],
      content: text,
      pubkey: ADA.pubkey,
    });
    for (let number = 0; number < 5; number += 1) {
      const wrap = relaynetEvent(said(`both ${number}`));
      await Promise.all([first.publish(wrap), second.publish(wrap)]);
      const again = rumor(`rewrapped ${number}`);
      for (const relay of [first, third]) {
        await relay.publish(relaynetWrap(again, ADA, AGENT.pubkey, Math.floor(Date.now() / 1000)));
      }
    }
    await eventually(() => running.context.received.length === 10);
    await afterAWhile();
    expect(new Set(texts(running)).size).toBe(10);
    expect(running.context.received).toHaveLength(10);
  });

  test("a wrap that lies two days back is heard, when it comes while we listen and when it came before", async () => {
    await using relay = await startRelaynet();
    const state = memorySecrets();
    const skewSecs = 172_799;
    {
      await using running = await connected([relay], { state });
      await relay.write(said("live", { skewSecs }));
      await eventually(() => running.context.received.length === 1);
    }
    await relay.write(said("meanwhile", { skewSecs, atMs: Date.now() + 10_000 }));
    await using running = await connected([relay], { state });
    await eventually(() => texts(running).includes("meanwhile"));
    // What was there before comes again, under its id: the inbox of this test is another one.
    expect(texts(running)).toEqual(["live", "meanwhile"]);
  });

  test("more messages than a relay tells in one answer are all received, in their order", async () => {
    await using relay = await startRelaynet({ mostResults: 4 });
    const state = memorySecrets();
    await (await connected([relay], { state })).stop();
    const wanted = Array.from({ length: 15 }, (_, at) => `message ${at}`);
    const atMs = Date.now() + 1_000;
    for (const [at, text] of wanted.entries()) await relay.write(said(text, { atMs: atMs + at * 1_000 }));
    await using running = await connected([relay], { state });
    await eventually(() => running.context.received.length === 15);
    expect(texts(running)).toEqual(wanted);
  });
});

describe("what is old or early", () => {
  test("nothing from before the channel was set up is answered", async () => {
    await using relay = await startRelaynet();
    for (const protocol of PROTOCOLS)
      await relay.write(said("before", { protocol, atMs: Date.now() - 60_000, skewSecs: 0 }));
    await using running = await connected([relay]);
    await relay.write(said("after"));
    await eventually(() => texts(running).includes("after"));
    expect(texts(running)).toEqual(["after"]);
    expect(running.context.log.text()).toContain("before the channel was set up");
  });

  test("nor what somebody wrote before they were allowed to", async () => {
    await using relay = await startRelaynet();
    const clock = fakeClock(Date.now());
    const state = memorySecrets();
    await (await connected([relay], { state, clock })).stop();
    await relay.write(said("not yet", { from: EVE, atMs: clock.now() + 5_000 }));
    await relay.write(said("Ada meanwhile", { atMs: clock.now() + 5_000 }));
    clock.setWallClock(clock.now() + 60_000);
    const section = { allowed_pubkeys: [ADA.npub, EVE.npub] };
    await using running = await connected([relay], { state, clock }, section);
    await relay.write(said("now", { from: EVE, atMs: clock.now() + 1_000 }));
    await eventually(() => texts(running).includes("now"));
    expect(texts(running)).toEqual(["Ada meanwhile", "now"]);
  });

  test("a date more than a day ahead is refused: it would keep out what its author writes later", async () => {
    await using relay = await startRelaynet();
    await using running = await connected([relay]);
    await relay.write(said("next year", { atMs: Date.now() + 365 * DAY_MS, skewSecs: 365 * 86_400 }));
    await relay.write(said("today"));
    await eventually(() => texts(running).includes("today"));
    expect(texts(running)).toEqual(["today"]);
    expect(running.context.log.text()).toContain("dated more than a day ahead");
  });

  test("a clock that was a month ahead for a while makes the channel deaf to nobody", async () => {
    await using relay = await startRelaynet();
    const nowMs = Date.now();
    const clock = fakeClock(nowMs);
    const state = memorySecrets();
    await (await connected([relay], { state, clock })).stop();
    clock.setWallClock(nowMs + 30 * DAY_MS);
    {
      await using running = await connected([relay], { state, clock });
      await relay.write(said("ahead", { atMs: nowMs + 30 * DAY_MS }));
      await eventually(() => texts(running).includes("ahead"));
    }
    clock.setWallClock(nowMs + 60_000);
    await relay.write(said("while it was down", { atMs: nowMs + 30_000, skewSecs: 0 }));
    await using running = await connected([relay], { state, clock });
    await relay.write(said("back in time", { atMs: nowMs + 61_000 }));
    await eventually(() => texts(running).includes("back in time"));
    expect(texts(running)).toContain("while it was down");
  });

  test("a new account begins anew", async () => {
    await using relay = await startRelaynet();
    const state = memorySecrets();
    const clock = fakeClock(Date.now());
    await (await connected([relay], { state, clock })).stop();
    const other = relaynetPerson("other agent");
    await relay.write(said("to the other, before", { to: other.pubkey, atMs: clock.now() + 1_000 }));
    clock.setWallClock(clock.now() + 60_000);
    await using running = await connected([relay], { state, clock }, { private_key: other.nsec });
    await relay.write(said("to the other, after", { to: other.pubkey, atMs: clock.now() + 1_000 }));
    await eventually(() => running.context.received.length > 0);
    expect(texts(running)).toEqual(["to the other, after"]);
  });
});

describe("relays", () => {
  test("one that demands to know who is there is told", async () => {
    await using relay = await startRelaynet({ demandsAuth: true });
    await relay.write(said("stored", { atMs: Date.now() + 5_000 }));
    await using running = await connected([relay]);
    await relay.write(said("live", { atMs: Date.now() + 10_000 }));
    await eventually(() => running.context.received.length === 2);
    expect(texts(running)).toEqual(["stored", "live"]);
    const auth = relay.frames.find(([type]) => type === "AUTH")?.[1] as {
      kind: number;
      pubkey: string;
      tags: string[][];
    };
    expect(auth).toMatchObject({ kind: 22_242, pubkey: AGENT.pubkey });
    expect(auth.tags).toContainEqual(["relay", relay.relay]);
  });

  test("one that is down does not matter while another is up; it comes back by itself", async () => {
    await using up = await startRelaynet();
    await using down = await startRelaynet();
    down.mood = { refuses: 503 };
    await using running = await connected([up, down]);
    await up.write(said("by the other"));
    await eventually(() => texts(running).includes("by the other"));
    expect(running.failure()).toBeUndefined();
    down.mood = "takes";
    await down.write(said("when it is back", { atMs: Date.now() + 2_000 }));
    await eventually(async () => {
      await running.context.clock.advance(1_000);
      return texts(running).includes("when it is back");
    });
    expect(running.context.log.text()).toContain("a relay is connected again");
  });

  test("one that does not say what it has is given up and tried again", async () => {
    await using relay = await startRelaynet();
    const clock = fakeClock(Date.now());
    // The connection is taken, and its frames are not answered.
    relay.mood = ({ method }) => (method === "FRAME" ? "hangs" : "takes");
    await using running = await run({ relays: [relay.relay] }, { clock });
    await eventually(() => relay.frames.some(([type]) => type === "REQ"));
    await eventually(async () => {
      await clock.advance(10_000);
      return running.failure() !== undefined;
    });
    expect(running.failure()).toMatchObject({ code: "REMOTE_TIMEOUT" });
  });

  test("one that asks again and again who is there gets ten answers", async () => {
    await using relay = await startRelaynet();
    await using running = await connected([relay]);
    for (let times = 0; times < 50; times += 1) relay.babble(JSON.stringify(["AUTH", `challenge ${times}`]));
    await relay.write(said("after it"));
    await eventually(() => relay.frames.filter(([type]) => type === "AUTH").length >= 10);
    await eventually(() => texts(running).includes("after it"));
    expect(relay.frames.filter(([type]) => type === "AUTH")).toHaveLength(10);
  });

  test("one that we don't listen to for minutes is not taken for silent", async () => {
    await using relay = await startRelaynet();
    const clock = fakeClock(Date.now());
    const deps = {
      clock,
      log: captureLogger(),
      resolve: async () => ["127.0.0.1"],
      identity: () => identityOf(AGENT.nsec),
    };
    const connection = await openRelay(relay.relay, deps, never);
    let lost: unknown;
    void connection.lost.then((why) => (lost = why));
    const pass = async (): Promise<void> => {
      for (let times = 0; times < 6; times += 1) await clock.advance(45_000);
      await afterAWhile();
    };
    connection.pause();
    await pass();
    expect(lost).toBeUndefined();
    connection.resume();
    relay.goDeaf();
    await pass();
    expect(lost).toMatchObject({ code: "REMOTE_TIMEOUT" });
  });

  test("one that floods us delays no other", async () => {
    await using flooding = await startRelaynet();
    await using quiet = await startRelaynet();
    await using running = await connected([flooding, quiet]);
    const event = relaynetEvent(said("x", { protocol: "legacy" }));
    for (let number = 0; number < 2_000; number += 1) flooding.tell({ ...event, content: `${number}` });
    await quiet.write(said("in between"));
    const began = performance.now();
    await eventually(() => texts(running).includes("in between"));
    console.log(`beside 2 000 forged events: ${Math.round(performance.now() - began)} ms`);
    expect(texts(running)).toEqual(["in between"]);
  });

  test("without TLS only on this machine", async () => {
    const running = await run({ relays: ["ws://relay.example.org"] }, { resolve: async () => ["93.184.216.34"] });
    await eventually(() => running.failure() !== undefined);
    expect(running.failure()).toMatchObject({ code: "ADDRESS_REFUSED" });
  });
});
