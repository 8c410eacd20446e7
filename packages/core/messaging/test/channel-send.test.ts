// A message of the agent's own sent twice by a turn that was taken up again, to a channel that is not there, with a file
// that the platform or the workspace does not have, or without its approval.
import { join } from "node:path";
import { SvcError, type Channel, type Json } from "@svc/contract";
import { keyOfConversation } from "@svc/kit";
import { openStore, type Store } from "@svc/store";
import { fakeClock } from "@svc/testkit/fake-clock";
import { fakeWorkspace } from "@svc/testkit/fake-workspace";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { callTool, type CallOutcome, type CallRequest } from "@svc/agent";
import { channelSendTool } from "../src/channel-send.ts";
import type { ChannelSendDeps } from "../src/types.ts";
import { platform, talk } from "./delivery-fixture.ts";
import { client, agentFixture } from "@svc/agent/agent-fixture";

const files = { "cat.png": "meow", "notes.txt": "1234567890", "huge.png": "x".repeat(100), "song.mp3": "la" };

function desk(channels: Readonly<Record<string, Partial<Channel>>> = { chat: {} }) {
  const home = temporaryHome();
  const clock = fakeClock();
  const store = openStore({ file: join(home.path, "svc.db"), clock, idempotency: { ttlMs: 300_000, maxKeys: 10 } });
  const woken: number[] = [];
  const parts: ChannelSendDeps = {
    store,
    channels: new Map(Object.entries(channels).map(([id, more]) => [id, platform(more)])),
    redact: (text) => text.replaceAll("sesame", "[redacted]"),
    dispatcher: { wake: (rows) => void woken.push(...rows.map(({ n }) => n)) },
    now: () => clock.now(),
    ...toAnybody,
  };
  const tool = channelSendTool(() => parts);
  const { environment } = agentFixture({})
    .set({ tools: [tool] })
    .profiles.get("default")!;
  const workspace = fakeWorkspace(files);
  return {
    store,
    woken,
    environment,
    tool,
    parts,
    send: (input: object, more: Partial<CallRequest> = {}): Promise<CallOutcome> =>
      callTool({ ...environment, workspace }, request(input, more)),
    rows: () => store.outbox.list({}, 100).toReversed(),
    [Symbol.dispose]() {
      store.close();
      home.remove();
    },
  };
}

const request = (input: object, more: Partial<CallRequest> = {}): CallRequest => ({
  turnId: "t-1",
  callId: "call",
  clientId: client,
  name: "channel_send",
  input: JSON.stringify({ channel: "chat", to: "room", text: "hello", ...input }),
  signal: new AbortController().signal,
  ...more,
});

/** Whom it may write to: channel-send-targets.test.ts. */
const toAnybody: Pick<ChannelSendDeps, "identity" | "targetsOf"> = {
  identity: { channel: () => client },
  targetsOf: () => ({ allowed: ["*"], notification: undefined }),
};

const pictures = {
  maxBytes: 10,
  sends: ["image"],
  fetch: () => Promise.reject(new Error("not in this test")),
} as const;

describe("channel_send", () => {
  test("puts one message into the outbox and tells its id", async () => {
    using agentFixture = desk();
    const { send, rows, woken } = agentFixture;
    const outcome = await send({ to: " room ", thread: "thread", text: "the sesame word" });
    expect(outcome).toMatchObject({ ok: true, acted: true });
    expect(outcome.output).toEqual({ message: "out-1", state: "waiting" });
    const conversation = talk("room", "thread");
    expect(rows()).toMatchObject([
      {
        conversation,
        conversationKey: keyOfConversation(conversation),
        text: "the [redacted] word",
        files: [],
        turnId: "t-1",
        state: "waiting",
      },
    ]);
    expect(woken).toEqual([1]);
  });

  test("acts: where nobody can be asked, nothing is sent", async () => {
    using agentFixture = desk();
    const { environment, tool } = agentFixture;
    expect(tool.approval).toBe("ask");
    const judge = () => ({ verdict: "ask", reason: "Acting tools wait." }) as const;
    const asking = { ...environment, policy: { ...environment.policy, judge } };
    expect(await callTool(asking, request({}))).toMatchObject({
      ok: false,
      output: expect.stringMatching(/^TOOL_REFUSED/),
    });
    expect(agentFixture.rows()).toEqual([]);
  });

  test("a call that is made again sends nothing more and tells what became of the first", async () => {
    using agentFixture = desk({ chat: { text: { maxChars: 12 } } });
    const { send, rows, store } = agentFixture;
    const input = { text: "one two. three four." };
    await send(input);
    await store.write(() => store.outbox.sent(1, "p", 1));
    expect((await send(input)).output).toEqual({ message: "out-1", state: "waiting", parts: 2 });
    await store.write(() => store.outbox.sent(2, "q", 1));
    expect((await send(input)).output).toEqual({ message: "out-1", state: "sent", parts: 2 });
    expect(rows()).toHaveLength(2);
    await send(input, { callId: "another" });
    await send(input, { turnId: "t-2" });
    expect(rows()).toHaveLength(6);
  });

  test("a call that is made again is told what became of the first, though it could not be made now", async () => {
    const channels: Record<string, Partial<Channel>> = { chat: { media: pictures } };
    using agentFixture = desk(channels);
    const { send, rows, parts } = agentFixture;
    const input = { text: "one two. three four.", files: ["cat.png"] };
    await send(input);
    const told = { message: "out-1", state: "waiting", parts: 2 };
    const shorter = new Map([["chat", platform({ text: { maxChars: 12 } })]]);
    for (const now of [shorter, new Map()]) {
      Object.assign(parts, { channels: now });
      expect(await send(input)).toMatchObject({ ok: true, output: told });
    }
    expect(rows()).toHaveLength(2);
  });

  test("recalls a call that was cut off, and that one has done nothing", async () => {
    using agentFixture = desk();
    const { send, tool } = agentFixture;
    expect(tool.recall!("t-1", "call")).toBeUndefined();
    await send({});
    expect(tool.recall!("t-1", "call")).toEqual({ output: { message: "out-1", state: "waiting" } });
    for (const [turnId, callId] of [
      ["t-1", "cal"],
      ["t-1", "call:1"],
      ["t-2", "call"],
    ] as const)
      expect(tool.recall!(turnId, callId)).toBeUndefined();
  });

  test("no two calls are taken for one, whatever their ids look like", async () => {
    using agentFixture = desk({ chat: { text: { maxChars: 12 } } });
    const { send, rows } = agentFixture;
    await send({ text: "one two. three four." }, { callId: "c" });
    for (const callId of ["c:1", "c:2", "2:c", "1:c"]) await send({ text: "x" }, { callId });
    expect(rows()).toHaveLength(6);
  });

  test("a long text becomes as many messages as the channel needs, then each file is one, all kept or none", async () => {
    using agentFixture = desk({ chat: { text: { maxChars: 20 }, media: pictures } });
    const { send, rows } = agentFixture;
    const text = "One sentence. Another sentence. And a third.";
    const outcome = await send({ text, files: ["cat.png", "cat.png"] });
    expect(outcome.output).toEqual({ message: "out-1", state: "waiting", parts: 5 });
    expect(rows().map(({ text, files }) => [text, files.length])).toEqual([
      ["One sentence.", 0],
      ["Another sentence.", 0],
      ["And a third.", 0],
      ["", 1],
      ["", 1],
    ]);
  });

  test("files alone are a message", async () => {
    using agentFixture = desk({ chat: { media: pictures } });
    const { send, rows } = agentFixture;
    await send({ text: " ", files: ["cat.png"] });
    expect(rows()).toMatchObject([{ text: "", files: [{ kind: "image", path: "cat.png", agent: "default" }] }]);
  });

  test("a kind of file that the channel does not take goes as a document where it takes those", async () => {
    using agentFixture = desk({ chat: { media: { ...pictures, sends: ["document", "image"] } } });
    const { send, rows } = agentFixture;
    await send({ text: "", files: ["cat.png", "song.mp3", "notes.txt"] });
    expect(rows().map(({ files }) => files[0]!.kind)).toEqual(["image", "document", "document"]);
  });

  test.each<[string, Readonly<Record<string, Partial<Channel>>>, object, RegExp]>([
    [
      "a channel that is not there",
      { chat: {}, mail: {} },
      { channel: "c" },
      /TOOL_BAD_INPUT.*there are: chat, mail\./,
    ],
    ["no channel at all", {}, {}, /TOOL_BAD_INPUT: No channel is in service\./],
    ["nothing to say", { chat: {} }, { text: " \n" }, /TOOL_BAD_INPUT.*nothing to send/],
    ["a file for a channel that takes none", { chat: {} }, { files: ["cat.png"] }, /TOOL_BAD_INPUT.*takes no files/],
    [
      "a file of another kind",
      { chat: { media: pictures } },
      { files: ["song.mp3"] },
      /TOOL_BAD_INPUT.*audio.*takes: image/,
    ],
    ["a file that is not there", { chat: { media: pictures } }, { files: ["dog.png"] }, /no such file/],
    [
      "a file outside of the workspace",
      { chat: { media: pictures } },
      { files: ["../a.png"] },
      /PATH_OUTSIDE_WORKSPACE/,
    ],
    [
      "a file that is too large",
      { chat: { media: pictures } },
      { files: ["huge.png"] },
      /TOOL_BAD_INPUT.*larger than the 10/,
    ],
    ["nobody to send it to", { chat: {} }, { to: " " }, /TOOL_BAD_INPUT.*to/],
    [
      "more files than a message takes",
      { chat: { media: pictures } },
      { files: Array(11).fill("cat.png") },
      /TOOL_BAD_INPUT.*files/,
    ],
  ])("%s is told, and nothing is kept", async (_, channels, input, told) => {
    using agentFixture = desk(channels);
    const { send, rows, woken } = agentFixture;
    expect(await send(input)).toMatchObject({ ok: false, output: expect.stringMatching(told) as Json });
    expect([rows(), woken]).toEqual([[], []]);
  });

  test("on a full disk the turn ends with that, and nothing is told as sent", async () => {
    using agentFixture = desk();
    const { environment, woken, store } = agentFixture;
    const full = { ...store, write: () => Promise.reject(new SvcError("STORE_FULL")) } as unknown as Store;
    const tool = channelSendTool(() => ({ store: full, channels: new Map([["chat", platform()]]), ...rest(woken) }));
    await expect(callTool({ ...environment, find: () => tool }, request({}))).rejects.toMatchObject({
      code: "STORE_FULL",
    });
    expect(woken).toEqual([]);
  });
});

const rest = (woken: number[]) => ({
  ...toAnybody,
  redact: (text: string) => text,
  dispatcher: { wake: (rows: readonly { n: number }[]) => void woken.push(...rows.map(({ n }) => n)) },
  now: () => 0,
});
