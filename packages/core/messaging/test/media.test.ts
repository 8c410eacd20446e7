// A file that somebody sends: kept outside of its folder, hidden, larger than allowed, fetched twice, or in the way of an answer.
import { readdirSync, readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type InboundMedia, type Media, SvcError, type Workspace } from "@svc/contract";
import { fakeWorkspace } from "@svc/testkit/fake-workspace";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { openWorkspace } from "@svc/agent";
import { hang } from "@svc/agent/agent-fixture";
import {
  afterKill,
  echo,
  lastAsked,
  messagingFixture,
  type MessagingFixtureOptions,
  quiet,
  said,
  type Think,
} from "./messaging-fixture.ts";

const cat: InboundMedia = {
  kind: "image",
  ref: "r-1",
  placeholder: "[IMAGE]",
  mimeType: "image/jpeg",
  fileName: "cat.jpg",
};
const voice: InboundMedia = { kind: "audio", ref: "v-1", placeholder: "[AUDIO]", mimeType: "audio/ogg; codecs=opus" };

/** A platform that hands out files in pieces, as often as it is asked. */
function files(
  of: Readonly<Record<string, string | Error | (() => Promise<never>)>> = { "r-1": "meow" },
  maxBytes = 100,
) {
  const asked: string[] = [];
  const fetch: Media["fetch"] = async ({ ref }, write) => {
    asked.push(ref);
    const file = of[ref] ?? new SvcError("MEDIA_REFUSED", "words of the platform");
    if (file instanceof Error) throw file;
    if (typeof file === "function") return file();
    for (const piece of file.match(/[^]{1,3}/g) ?? []) await write(new TextEncoder().encode(piece));
    return { mimeType: "image/jpeg" };
  };
  return { asked, media: { maxBytes, sends: [], fetch } satisfies Media };
}

const refused = () => Promise.reject(new SvcError("PATH_FORBIDDEN"));

interface Desk extends Disposable {
  readonly root: string;
  readonly workspace: Workspace;
}

async function desk(): Promise<Desk> {
  const home = temporaryHome();
  const root = join(home.path, "desk");
  const workspace = await openWorkspace(root, { forbiddenPaths: [], hidden: [], workspaceOnly: true });
  return { root: workspace.root, workspace, [Symbol.dispose]: () => home.remove() };
}

async function mediaFixture(own: Desk, media: Media, options: MessagingFixtureOptions = {}) {
  const made = messagingFixture({ workspace: own.workspace as never, ...options });
  Object.assign(made.chat, { media });
  return made;
}

/** Lets go of files that hang: the folders that they are written in stay open as long. */
async function stopped(made: Awaited<ReturnType<typeof mediaFixture>>): Promise<void> {
  const stopping = made.messaging.stop(0);
  await made.pass(1);
  await stopping;
}

/** Files are written by threads of their own. */
async function answered(made: Awaited<ReturnType<typeof mediaFixture>>, count: number): Promise<void> {
  while (made.chat.taken.length < count) {
    await new Promise(setImmediate);
    await quiet();
  }
}

describe("a file that comes with a message", () => {
  test("is in the workspace before the agent is asked, and the agent is told where", async () => {
    using own = await desk();
    const { media } = files();
    using made = await mediaFixture(own, media);
    await made.messaging.receive("chat", [said("look: [IMAGE] nice?", { media: [cat] })]);
    await answered(made, 1);
    expect(lastAsked(made.model.asked[0]!)).toBe("look: [IMAGE:media/2026-01-01/1-cat.jpg] nice?");
    expect(readFileSync(join(own.root, "media/2026-01-01/1-cat.jpg"), "utf8")).toBe("meow");
  });

  test.each<[string, Error, number]>([
    ["is gone", new SvcError("MEDIA_REFUSED", "words of the platform"), 1],
    ["stays out of reach", new SvcError("REMOTE_UNREACHABLE"), 3],
    ["makes the channel fail", new Error("sk-secret"), 1],
  ])("and %s is said to be missing, and the message is answered all the same", async (_, error, tries) => {
    using own = await desk();
    const { media, asked } = files({ "r-1": error });
    using made = await mediaFixture(own, media);
    await made.messaging.receive("chat", [said("look: [IMAGE]", { media: [cat] })]);
    while (made.chat.taken.length === 0) {
      await made.pass(50);
      // As long as what the threads do with files, so that the clock does not run away from them.
      await stat(own.root);
    }
    expect([lastAsked(made.model.asked[0]!), asked.length]).toEqual(["look: [IMAGE: could not be fetched]", tries]);
    expect(made.log.text()).toContain("a file that came with a message could not be fetched");
    expect(made.log.text()).not.toContain("sk-secret");
    expect(readdirSync(join(own.root, "media/2026-01-01"))).toEqual([]);
  });

  test("and is larger than the channel's limit is not kept, not even in part", async () => {
    using own = await desk();
    const { media } = files({ "r-1": "x".repeat(101) });
    using made = await mediaFixture(own, media);
    await made.messaging.receive("chat", [said("[IMAGE]", { media: [cat] })]);
    await answered(made, 1);
    expect(lastAsked(made.model.asked[0]!)).toBe("[IMAGE: could not be fetched]");
    expect(readdirSync(join(own.root, "media/2026-01-01"))).toEqual([]);
  });

  test("each of several has a place of its own, whatever they are called", async () => {
    using own = await desk();
    const { media } = files({ "r-1": "one", "r-2": "two" });
    using made = await mediaFixture(own, media);
    await made.messaging.receive("chat", [said("[IMAGE] and [IMAGE]", { media: [cat, { ...cat, ref: "r-2" }] })]);
    await answered(made, 1);
    expect(lastAsked(made.model.asked[0]!)).toBe(
      "[IMAGE:media/2026-01-01/1-cat.jpg] and [IMAGE:media/2026-01-01/1.2-cat.jpg]",
    );
    expect(readFileSync(join(own.root, "media/2026-01-01/1.2-cat.jpg"), "utf8")).toBe("two");
  });

  test("is fetched for many conversations at the same moment, into one folder", async () => {
    using own = await desk();
    const { media } = files();
    using made = await mediaFixture(own, media, { settings: { maxParallelTurns: 8 } });
    const rooms = Array.from({ length: 8 }, (_, n) => ({
      conversation: { channel: "chat", id: `r${n}` },
      media: [cat],
    }));
    await made.messaging.receive(
      "chat",
      rooms.map((room) => said("[IMAGE]", room)),
    );
    await answered(made, 8);
    expect(made.model.asked.map(lastAsked).filter((words) => words.includes("could not"))).toEqual([]);
  });

  test.each<[string, Partial<MessagingFixtureOptions>]>([
    ["whose agent has no workspace", {}],
    ["which may not be written there", { workspace: { ...fakeWorkspace({}), write: refused } }],
  ])("%s is said to be missing", async (_, options) => {
    using made = messagingFixture(options);
    Object.assign(made.chat, { media: files().media });
    await made.receive(said("[IMAGE]", { media: [cat] }));
    expect(lastAsked(made.model.asked[0]!)).toBe("[IMAGE: could not be fetched]");
  });
});

describe("a server of files that hangs", () => {
  const never = { "r-1": () => new Promise<never>(() => {}) };
  const from = (room: string, media: InboundMedia[]) =>
    said(`of ${room}`, { conversation: { channel: "chat", id: room }, media });

  test("holds up nobody else's turn", async () => {
    using own = await desk();
    const { media, asked } = files(never);
    using made = await mediaFixture(own, media, { settings: { maxParallelTurns: 2 } });
    const rooms = Array.from({ length: 10 }, (_, n) => from(`room ${n}`, [cat]));
    await made.messaging.receive("chat", rooms);
    while (asked.length < 10) await new Promise(setImmediate);
    await made.messaging.receive("chat", [from("elsewhere", [])]);
    await answered(made, 1);
    expect(made.chat.taken).toEqual(["echo of elsewhere"]);
    await stopped(made);
  });

  test("is waited for ten minutes, however many files of one message it has", async () => {
    using own = await desk();
    const { media, asked } = files(never);
    using made = await mediaFixture(own, media);
    await made.messaging.receive("chat", [
      from(
        "room",
        Array.from({ length: 20 }, () => cat),
      ),
    ]);
    while (made.chat.taken.length === 0) {
      await made.pass(5_000);
      await new Promise(setImmediate);
    }
    expect(made.chat.taken[0]!.match(/could not be fetched/g)).toHaveLength(20);
    // Three tries of three minutes for the first one, and less than a fourth for all others.
    expect(asked.length).toBeLessThanOrEqual(4);
  });
});

describe("a turn that is taken up", () => {
  test("asks in the words of the first time, and fetches nothing again", async () => {
    using own = await desk();
    const target = temporaryHome();
    const { media, asked } = files();
    using made = await mediaFixture(own, media, { think: hang });
    await made.messaging.receive("chat", [said("[IMAGE]", { media: [cat] })]);
    while (made.model.asked.length === 0) await new Promise(setImmediate);
    afterKill(made.folder, target.path);
    const gone = files({});
    using next = await mediaFixture(own, gone.media, { folder: target.path });
    await answered(next, 1);
    expect([next.chat.taken, asked.length, gone.asked]).toEqual([["echo [IMAGE:media/2026-01-01/1-cat.jpg]"], 1, []]);
    target.remove();
  });

  test("that was killed between two files fetches the second one only", async () => {
    using own = await desk();
    const target = temporaryHome();
    const first = files({ "r-1": "one", "r-2": () => new Promise<never>(() => {}) });
    using made = await mediaFixture(own, first.media);
    await made.messaging.receive("chat", [said("[IMAGE][IMAGE]", { media: [cat, { ...cat, ref: "r-2" }] })]);
    while (first.asked.length < 2) await new Promise(setImmediate);
    afterKill(made.folder, target.path);
    const second = files({ "r-2": "two" });
    using next = await mediaFixture(own, second.media, { folder: target.path });
    await answered(next, 1);
    expect(second.asked).toEqual(["r-2"]);
    expect(next.chat.taken[0]).toContain("1.2-cat.jpg]");
    await stopped(made);
    target.remove();
  });

  test("does not take an old file of the same name for the one that came", async () => {
    using own = await desk();
    await own.workspace.write("media/2026-01-01/1-cat.jpg", Buffer.from("of another life"), "replace");
    const { media } = files();
    using made = await mediaFixture(own, media);
    await made.messaging.receive("chat", [said("[IMAGE]", { media: [cat] })]);
    await answered(made, 1);
    expect(readFileSync(join(own.root, "media/2026-01-01/1-cat.jpg"), "utf8")).toBe("meow");
  });
});

describe("a recording", () => {
  const transcription = { baseUrl: "https://w.example/v1", apiKey: "k", model: "w", language: undefined, maxBytes: 10 };
  const answer = (status: number, body: object) => async () => ({
    status,
    headers: {},
    bytes: Buffer.from(JSON.stringify(body)),
    truncated: false,
    url: "",
  });

  test.each<[string, MessagingFixtureOptions["fetch"], string, string]>([
    [
      "is told as what is said in it",
      answer(200, { text: "Buy milk." }),
      "sound",
      "\nTranscript of this recording: Buy milk.",
    ],
    [
      "without a word in it is told to be that",
      answer(200, { text: " " }),
      "sound",
      "\n(Nothing is said in this recording.)",
    ],
    ["that can't be transcribed", answer(401, {}), "sound", "\n(This recording could not be transcribed.)"],
    [
      "that is too large for it",
      answer(200, { text: "never" }),
      "x".repeat(11),
      "\n(This recording could not be transcribed.)",
    ],
  ])("%s", async (_, fetch, sound, told) => {
    using own = await desk();
    const { media } = files({ "v-1": sound });
    using made = await mediaFixture(own, media, { settings: { transcription }, ...(fetch && { fetch }) });
    await made.messaging.receive("chat", [said("[AUDIO]", { media: [voice] })]);
    await answered(made, 1);
    expect(lastAsked(made.model.asked[0]!)).toBe(`[AUDIO:media/2026-01-01/1-audio.ogg]${told}`);
  });

  test("is not transcribed again when the model was out of reach", async () => {
    using own = await desk();
    let [heard, failed] = [0, 0];
    const fetch: MessagingFixtureOptions["fetch"] = () => ((heard += 1), answer(200, { text: "Buy milk." })());
    const think: Think = (options) => {
      if (failed++ === 0) throw new SvcError("MODEL_UNREACHABLE");
      return echo(options);
    };
    const { media } = files({ "v-1": "sound" });
    const config = { model: { max_retries: 0 } };
    using made = await mediaFixture(own, media, { settings: { transcription }, fetch, think, config });
    await made.messaging.receive("chat", [said("[AUDIO]", { media: [voice] })]);
    while (made.chat.taken.length === 0) {
      await made.pass(500);
      await new Promise(setImmediate);
    }
    expect([heard, made.chat.taken[0]]).toEqual([1, expect.stringContaining("Buy milk.")]);
  });
});
