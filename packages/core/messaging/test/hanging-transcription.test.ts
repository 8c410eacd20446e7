// A service that transcribes and hangs: everybody's turns wait for it, its recordings fill the memory, a voice message is lost.
import type { FetchOptions, InboundMedia, Media } from "@svc/contract";
import { fakeWorkspace } from "@svc/testkit/fake-workspace";
import { expect, test } from "vitest";
import { messagingFixture, type MessagingFixture, quiet, said } from "./messaging-fixture.ts";

const voice: InboundMedia = { kind: "audio", ref: "v", placeholder: "[AUDIO]", mimeType: "audio/ogg" };
const media: Media = {
  maxBytes: 100,
  sends: [],
  async fetch(_, write) {
    await write(Buffer.from("sound"));
    return {};
  },
};
const transcription = { baseUrl: "https://w.example/v1", apiKey: "k", model: "w", language: undefined, maxBytes: 100 };
const inRoom = (n: number) => ({ conversation: { channel: "chat", id: `room ${n}` } });

/** Asked, and not yet given up. */
function hangingService() {
  const service = { asked: 0, open: 0, most: 0 };
  const fetch = (_: string, { signal }: FetchOptions = {}): Promise<never> => {
    service.asked += 1;
    service.open += 1;
    service.most = Math.max(service.most, service.open);
    return new Promise((_resolve, reject) => {
      signal!.addEventListener("abort", () => ((service.open -= 1), reject(signal!.reason as Error)));
    });
  };
  return { service, fetch };
}

async function withVoices(
  count: number,
): Promise<MessagingFixture & { service: ReturnType<typeof hangingService>["service"] }> {
  const { service, fetch } = hangingService();
  const workspace = fakeWorkspace({});
  const made = messagingFixture({ workspace, fetch, settings: { transcription, maxParallelTurns: 2 } });
  Object.assign(made.chat, { media });
  await made.receive(...Array.from({ length: count }, (_, n) => said("[AUDIO]", { ...inRoom(n), media: [voice] })));
  // What kind a file is may be asked of a module that is loaded first.
  while (service.asked < Math.min(count, 8)) await quiet();
  return Object.assign(made, { service });
}

test("holds up nobody else's turn, and has a few recordings at a time", async () => {
  using made = await withVoices(20);
  await made.receive(said("hello", inRoom(99)));
  expect(made.chat.taken).toEqual(["echo hello"]);
  expect([made.service.asked, made.service.most]).toEqual([8, 8]);
});

test("is waited for ten minutes in all; then each message is answered, and says that it was not heard", async () => {
  using made = await withVoices(20);
  await made.pass(599_000);
  expect(made.chat.taken).toEqual([]);
  await made.pass(1_000);
  expect(made.chat.taken).toHaveLength(20);
  for (const words of made.chat.taken) expect(words).toContain("(This recording could not be transcribed.)");
  expect([made.service.open, made.clock.waiting]).toEqual([0, 0]);
});

test("is left at once by a shutdown, and the messages wait for the next process", async () => {
  using made = await withVoices(20);
  const stopped = made.messaging.stop(1_000);
  await made.clock.advance(1_000);
  await stopped;
  expect([made.service.open, made.row(1).state, made.row(20).state, made.row(20).attempts]).toEqual([
    0,
    "waiting",
    "waiting",
    0,
  ]);
});
