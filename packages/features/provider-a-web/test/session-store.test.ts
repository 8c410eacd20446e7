// A step of a ratchet that a kill takes back is a chat that nobody can read: what was stored is there after a kill at any write.
import { cases } from "@svc/cases";
import type { SecretStore } from "@svc/contract";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { assert, asyncProperty, array, constantFrom, integer, nat, tuple } from "fast-check";
import { expect, test } from "vitest";
import { openSessionStore } from "../src/session-store.ts";
import { linkedSecrets, open, sectionOf, until } from "./fixture.ts";
import { PERSON, startWebPlatform } from "@svc/testkit/platforms/provider-a-web/server";

const NEVER = new AbortController().signal;

/** A process's way to the disk, which is killed after so many writes, or by `kill`. */
function dyingDisk(disk: SecretStore, writes: number): SecretStore & { kill(): void } {
  let left = writes;
  const lives = (): boolean => (left -= 1) >= 0;
  const dead = () => Promise.reject(new Error("killed"));
  return {
    ...disk,
    set: (name, value) => (lives() ? disk.set(name, value) : dead()),
    delete: (name) => (lives() ? disk.delete(name) : dead()),
    kill: () => void (left = 0),
  };
}

test("what was acknowledged is there after a kill at any write, over compactions too, and nothing else", async () => {
  const change = tuple(constantFrom("a", "b", "c", "key/session/x"), integer({ min: -1, max: 9 }));
  await assert(
    asyncProperty(
      array(change, { minLength: 1, maxLength: 30 }),
      nat(600),
      nat(400),
      async (changes, writes, before) => {
        const disk = memorySecrets();
        const first = await openSessionStore(disk, "whatsapp");
        for (let at = 0; at < before; at += 1) await first.commit(new Map([["n", at]]));
        const process = dyingDisk(disk, writes);
        const store = await openSessionStore(process, "whatsapp").catch(() => undefined);
        const acknowledged = new Map<string, unknown>(before > 0 ? [["n", before - 1]] : []);
        for (const [name, value] of store ? changes : []) {
          try {
            await store!.commit(new Map([[name, value < 0 ? undefined : { value, bytes: Buffer.from([value]) }]]));
          } catch {
            break;
          }
          if (value < 0) acknowledged.delete(name);
          else acknowledged.set(name, { value, bytes: Buffer.from([value]) });
        }
        // It may be compacting: no other process opens the session beside it.
        process.kill();
        const after = await openSessionStore(disk, "whatsapp");
        expect(new Map(after.entries(""))).toEqual(acknowledged);
      },
    ),
    { numRuns: cases(300) },
  );
});

test("sessions by other names know nothing of each other", async () => {
  const disk = memorySecrets();
  await (await openSessionStore(disk, "one")).commit(new Map([["a", 1]]));
  expect((await openSessionStore(disk, "two")).entries("")).toEqual([]);
  expect((await openSessionStore(disk, "one")).get("a")).toBe(1);
});

test("an answer whose confirmation got lost with the process is sent again: people see it once, and can read what follows", async () => {
  await using platform = await startWebPlatform();
  const disk = memorySecrets();
  await linkedSecrets(platform, disk);
  const conversation = { channel: "provider_a", id: PERSON };
  let expected = 0;
  for (let round = 0; round < 4; round += 1) {
    const snapshot: [string, string][] = [];
    {
      await using opened = open(sectionOf(platform), disk);
      opened.start();
      await opened.channel.send({ conversation, text: `before ${round}`, deliveryId: `b${round}` }, NEVER);
      platform.mood = "loses answers";
      const sending = opened.channel
        .send({ conversation, text: `lost ${round}`, deliveryId: `l${round}` }, NEVER)
        .catch(() => undefined);
      const requests = platform.requests.length;
      await until(() => platform.requests.length > requests, "the platform has the message");
      // The disk as it is at the moment of the kill: nothing that is written later is there.
      for (const name of await disk.list()) snapshot.push([name, (await disk.get(name))!]);
      platform.mood = "takes";
      await opened.stop();
      await sending;
    }
    for (const name of await disk.list()) await disk.delete(name);
    for (const [name, value] of snapshot) await disk.set(name, value);
    await using opened = open(sectionOf(platform), disk);
    opened.start();
    await opened.channel.send({ conversation, text: `lost ${round}`, deliveryId: `l${round}` }, NEVER);
    await opened.channel.send({ conversation, text: `after ${round}`, deliveryId: `a${round}` }, NEVER);
    expected += 3;
  }
  expect(platform.seen.filter(({ by }) => by === PERSON)).toHaveLength(expected);
  expect({ broken: platform.broken, retries: platform.retries }).toEqual({ broken: [], retries: 0 });
});

test("no message leaves before the step of its ratchet is on disk", async () => {
  await using platform = await startWebPlatform();
  const disk = memorySecrets();
  await linkedSecrets(platform, disk);
  let free = Number.POSITIVE_INFINITY;
  const gate = Promise.withResolvers<void>();
  const slow: SecretStore = {
    ...disk,
    async set(name, value) {
      free -= 1;
      if (free < 0) await gate.promise;
      await disk.set(name, value);
    },
  };
  await using opened = open(sectionOf(platform), slow);
  opened.start();
  const conversation = { channel: "provider_a", id: PERSON };
  await opened.channel.send({ conversation, text: "one", deliveryId: "one" }, NEVER);
  const before = platform.requests.length;
  // The first write is the message itself; the next one is the step.
  free = 1;
  const sending = opened.channel.send({ conversation, text: "two", deliveryId: "two" }, NEVER);
  await until(() => free < 0, "the step is written");
  // Long enough for a message that does not wait.
  for (let lap = 0; lap < 40; lap += 1) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(platform.requests.length).toBe(before);
  gate.resolve();
  await sending;
  expect(platform.sent.map(({ text }) => text)).toEqual(["one", "two"]);
});
