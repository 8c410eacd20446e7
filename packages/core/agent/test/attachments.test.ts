// Files that come with messages: kept half, by another client, twice, too many or for ever; a message that is lost with its files.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ClientId, type Speech, SvcError, type Workspace } from "@svc/contract";
import { openStore, type Store } from "@svc/store";
import { type FakeClock, fakeClock } from "@svc/testkit/fake-clock";
import { captureLogger } from "@svc/testkit/capture-logger";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, onTestFinished, test } from "vitest";
import { Attachments, MAX_FILE_BYTES, MAX_UNSENT, openWorkspace, type UploadBody } from "../src/index.ts";
import {
  ask,
  client,
  failure,
  gate,
  type AgentFixture,
  agentFixture,
  lastSent,
  scripted,
  text,
  until,
} from "./agent-fixture.ts";

const DAY_MS = 86_400_000;
const TODAY = new Date(fakeClock().now()).toISOString().slice(0, 10);
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const OGG = Buffer.from("OggS\0\x02....OpusHead", "latin1");
const other = "other" as ClientId;

interface Desk extends AgentFixture {
  readonly attachments: Attachments;
  readonly workspace: Workspace;
  readonly folder: string;
  readonly clock: FakeClock;
  /** Names of the files that wait. */
  waiting(): string[];
  upload(bytes?: Uint8Array, name?: string, owner?: ClientId): Promise<string>;
}

interface DeskOptions {
  readonly answers?: Parameters<typeof scripted>;
  readonly speech?: Partial<Speech>;
  readonly store?: Store;
  readonly home?: string;
  readonly clock?: FakeClock;
  /** The disk has no room for uploads. */
  readonly refuses?: true;
}

async function desk(options: DeskOptions = {}): Promise<Desk & { readonly model: ReturnType<typeof scripted> }> {
  const clock = options.clock ?? fakeClock();
  const home = options.home ?? temporaryHomePath();
  const store = options.store ?? openStore({ file: ":memory:", clock, idempotency: { ttlMs: 1000, maxKeys: 10 } });
  const root = join(home, "desk");
  const workspace = await openWorkspace(root, { forbiddenPaths: [], hidden: [], workspaceOnly: true });
  const folder = join(home, "uploads");
  const log = captureLogger();
  const speech = { canTranscribe: false, transcribe: () => Promise.reject(new Error("not asked")), ...options.speech };
  const workspaceOf = (name: string) => (name === "default" ? workspace : undefined);
  const refusing: Pick<Store, "uploads" | "write"> = {
    uploads: store.uploads,
    write: (change) => (options.refuses ? Promise.reject(new SvcError("STORE_FULL")) : store.write(change)),
  };
  const attachments = new Attachments({
    folder,
    store: refusing,
    clock,
    log,
    speech,
    workspaceOf,
    workspaces: () => [workspace],
  });
  const model = scripted(...(options.answers ?? [[text("seen")]]));
  const made = agentFixture({ store, clock, model, attachments });
  const waiting = (): string[] => (existsSync(folder) ? readdirSync(folder) : []);
  const upload = async (bytes: Uint8Array = PNG, name = "photo.png", owner = client): Promise<string> =>
    (await attachments.receive(owner, name, whole(bytes))).id;
  return { ...made, model, attachments, workspace, folder, clock, waiting, upload };
}

function temporaryHomePath(): string {
  const home = temporaryHome();
  onTestFinished(() => home.remove());
  return home.path;
}

const whole =
  (bytes: Uint8Array): UploadBody =>
  (write) =>
    write(bytes);

const shown = ({ agent }: AgentFixture) =>
  agent.sessions
    .messages(agent.sessions.list({}, 1)[0]!.id, { limit: 10 })
    .messages.map(({ role, text: said, files }) => ({
      role,
      said,
      files: files.map(({ name, type, size }) => `${name} ${type} ${size}`),
    }));

describe("an upload", () => {
  test("is kept with the type that its bytes have, and a name without folders", async () => {
    const { attachments, store, waiting } = await desk();
    const upload = await attachments.receive(client, "../../etc/passwd.html", whole(PNG));
    expect(upload).toMatchObject({ name: "passwd.html", type: "image/png", size: PNG.length, owner: client });
    expect(waiting()).toEqual([upload.id]);
    expect(store.uploads.unsent(upload.id)).toEqual(upload);
  });

  test("that breaks off leaves nothing", async () => {
    const { attachments, store, waiting } = await desk();
    const body: UploadBody = async (write) => {
      await write(PNG);
      throw new SvcError("BAD_REQUEST", "cut off");
    };
    expect(await failure(attachments.receive(client, "a", body))).toMatchObject({ message: "cut off" });
    expect([waiting(), store.uploads.countUnsent(client)]).toEqual([[], 0]);
  });

  test("that is too large is refused when it is, and leaves nothing", async () => {
    const { attachments, waiting } = await desk();
    const mebibyte = Buffer.alloc(1_048_576);
    let written = 0;
    const body: UploadBody = async (write) => {
      for (; ; written += mebibyte.length) await write(mebibyte);
    };
    expect(await failure(attachments.receive(client, "a", body))).toMatchObject({ code: "TOO_LARGE" });
    expect([waiting(), written]).toEqual([[], MAX_FILE_BYTES]);
  });

  test("without a byte is refused", async () => {
    const { attachments, waiting } = await desk();
    expect(await failure(attachments.receive(client, "a", async () => {}))).toMatchObject({ code: "BAD_REQUEST" });
    expect(waiting()).toEqual([]);
  });

  test("beyond a hundred that wait is refused, also while the others are coming in", async () => {
    const { attachments, upload } = await desk();
    for (let count = 0; count < MAX_UNSENT - 1; count += 1) await upload();
    const slow = gate();
    const last = attachments.receive(client, "a", async (write) => {
      await slow.opened;
      await write(PNG);
    });
    expect(await failure(upload())).toMatchObject({ code: "FILE_LIMIT" });
    await expect(upload(PNG, "b", other)).resolves.toMatch(/^[0-9a-f]{16}$/);
    slow.open();
    const { id } = await last;
    expect(await failure(upload())).toMatchObject({ code: "FILE_LIMIT" });
    await attachments.discard(client, id);
    await upload();
  });

  test("is one of 32 at the same time, of all clients", async () => {
    const { attachments } = await desk();
    const slow = gate();
    const body: UploadBody = (write) => slow.opened.then(() => write(PNG));
    const coming = Array.from({ length: 32 }, (_, n) => attachments.receive(`c${n}` as ClientId, "a", body));
    expect(await failure(attachments.receive(client, "a", whole(PNG)))).toMatchObject({ code: "BUSY" });
    slow.open();
    await Promise.all(coming);
    await attachments.receive(client, "a", whole(PNG));
  });

  test("that the database refuses leaves nothing", async () => {
    const { attachments, waiting } = await desk({ refuses: true });
    expect(await failure(attachments.receive(client, "a", whole(PNG)))).toMatchObject({ code: "STORE_FULL" });
    expect(waiting()).toEqual([]);
  });

  test("is removed by nobody but its client", async () => {
    const { attachments, upload, waiting } = await desk();
    const id = await upload();
    expect(await attachments.discard(other, id)).toBe(false);
    expect(waiting()).toEqual([id]);
    expect([await attachments.discard(client, id), await attachments.discard(client, id)]).toEqual([true, false]);
    expect(waiting()).toEqual([]);
  });
});

describe("a message with files", () => {
  test("has them in the workspace, tells the model where, and people what", async () => {
    const made = await desk();
    const { agent, model, workspace, upload, waiting } = made;
    const ids = [await upload(), await upload(Buffer.from("%PDF-1.7"), "a b.pdf")];
    await ask(agent, "look", { session: "s", files: ids });
    const paths = [`media/${TODAY}/${ids[0]}-photo.png`, `media/${TODAY}/${ids[1]}-a-b.pdf`];
    expect(JSON.parse(lastSent(model))).toEqual({
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "text", text: `\n[IMAGE:${paths[0]}]\n[DOCUMENT:${paths[1]}]` },
      ],
    });
    expect(readFileSync(join(workspace.root, paths[0]!))).toEqual(PNG);
    expect(shown(made)).toEqual([
      { role: "user", said: "look", files: ["photo.png image/png 16", "a b.pdf application/pdf 8"] },
      { role: "assistant", said: "seen", files: [] },
    ]);
    await until(() => waiting().length === 0);
    expect(agent.sessions.list({}, 1)[0]!.title).toBe("look");
  });

  test("needs no words, and a command among them is none", async () => {
    const made = await desk({ answers: [[text("a")], [text("b")]] });
    await ask(made.agent, "  ", { session: "s", files: [await made.upload()] });
    await ask(made.agent, "/stop", { session: "s", files: [await made.upload()], takesCommands: true });
    expect(shown(made).map(({ said }) => said)).toEqual(["", "a", "/stop", "b"]);
    expect(made.agent.sessions.list({}, 1)[0]!.title).toBe("photo.png");
  });

  test.each([
    ["of another client", async ({ upload }: Desk) => [await upload(PNG, "a", other)]],
    ["that nobody uploaded", async () => ["0123456789abcdef"]],
    ["whose id is a path", async () => ["../../../etc/passwd"]],
    [
      "that was sent",
      async ({ agent, upload }: Desk) => {
        const id = await upload();
        await ask(agent, "one", { session: "s", files: [id] });
        return [id];
      },
    ],
    [
      "that expired",
      async ({ upload, clock }: Desk) => {
        const id = await upload();
        await clock.advance(DAY_MS + 1);
        return [id];
      },
    ],
    [
      "whose bytes are gone",
      async ({ upload, folder }: Desk) => {
        const id = await upload();
        rmSync(join(folder, id));
        return [id];
      },
    ],
  ] as const)("is refused with one %s: nothing is stored and no model is asked", async (_what, idsOf) => {
    const made = await desk({ answers: [[text("a")], [text("b")]] });
    const good = await made.upload();
    const bad = await idsOf(made);
    const asked = made.model.asked.length;
    const claim = { scope: "c", key: "k" };
    made.store.idempotency.claim(claim);
    const refused = await failure(ask(made.agent, "two", { session: "s2", files: [good, ...bad], claim }));
    expect(refused).toMatchObject({ code: "FILE_UNKNOWN" });
    expect(made.model.asked.length).toBe(asked);
    expect(made.agent.sessions.list({}, 9).map(({ name }) => name)).not.toContain("s2");
    expect(made.store.openTurns.all()).toEqual([]);
    // The good one was not used up, and the key is new again.
    expect(made.store.uploads.unsent(good)).toMatchObject({ id: good });
    expect(made.store.idempotency.claim(claim)).toBe("new");
  });

  test("sent twice at once is one message", async () => {
    const made = await desk({ answers: [[text("a")], [text("b")]] });
    const files = [await made.upload()];
    const both = await Promise.allSettled(["s1", "s2"].map((session) => ask(made.agent, "x", { session, files })));
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(both.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "FILE_UNKNOWN" } });
    expect(made.model.asked).toHaveLength(1);
  });

  test("is on disk with them before the model is asked", async () => {
    const made = await desk({
      answers: [
        async () => {
          const [open] = made.store.openTurns.all();
          expect(open).toMatchObject({ text: "look", meta: { files: [{ name: "photo.png" }] } });
          expect(made.store.uploads.sent(open!.meta!.files![0]!.id, client, "s")).toBeDefined();
          return [text("seen")];
        },
      ],
    });
    await ask(made.agent, "look", { session: "s", files: [await made.upload()] });
  });

  test("that waits for another turn shows them, and a kill keeps it with them", async () => {
    const first = gate();
    const made = await desk({ answers: [() => first.opened.then(() => [text("a")])] });
    const running = ask(made.agent, "one", { session: "s" });
    const waits = ask(made.agent, "two", { session: "s", files: [await made.upload()] });
    for (const turn of [running, waits]) turn.catch(() => {});
    await until(() => made.store.openTurns.all().length === 2);
    await until(() => shown(made).length === 2);
    expect(shown(made)[1]).toMatchObject({ said: "two", files: ["photo.png image/png 16"] });
    const next = await desk({ ...made, home: join(made.folder, ".."), answers: [[text("again")]] });
    await next.agent.recover();
    expect(shown(next).filter(({ role }) => role === "user")).toEqual([
      { role: "user", said: "one", files: [] },
      { role: "user", said: "two", files: ["photo.png image/png 16"] },
    ]);
    first.open();
  });

  test("that failed is sent again with them, and can be edited without one of them", async () => {
    const made = await desk({ answers: [new Error("no"), new Error("no"), [text("at last")]] });
    const { agent, model, upload } = made;
    const ids = [await upload(PNG, "a.png"), await upload(PNG, "b.png")];
    await failure(ask(agent, "look", { session: "s", files: ids }));
    const newest = () =>
      made.agent.sessions.messages(agent.sessions.list({}, 1)[0]!.id, { limit: 9 }).followUps!.turnId;
    await failure(ask(agent, "", { session: "s", after: { turnId: newest(), how: "retry" } }));
    expect(lastSent(model)).toContain(`${ids[0]}-a.png`);
    expect(lastSent(model)).toContain(`${ids[1]}-b.png`);
    const added = await upload(PNG, "c.png");
    await ask(agent, "look here", { session: "s", after: { turnId: newest(), how: "edit" }, files: [ids[1], added] });
    expect(lastSent(model)).not.toContain("a.png");
    const files = ["b.png image/png 16", "c.png image/png 16"];
    expect(shown(made).at(-2)).toEqual({ role: "user", said: "look here", files });
  });

  test("tells the model what is said in a recording, and is answered when that can't be had", async () => {
    const heard: string[] = [];
    const transcribe: Speech["transcribe"] = async ({ name, mimeType, bytes }) => {
      heard.push(`${name} ${mimeType} ${bytes.length}`);
      if (heard.length > 1) throw new SvcError("TRANSCRIPTION_FAILED");
      return "milk and bread";
    };
    const speech = { canTranscribe: true, transcribe };
    const made = await desk({ answers: [[text("a")], [text("b")]], speech });
    await ask(made.agent, "", { session: "s", files: [await made.upload(OGG, "memo.ogg"), await made.upload()] });
    expect(heard).toEqual([`memo.ogg audio/ogg ${OGG.length}`]);
    expect(lastSent(made.model)).toContain("memo.ogg]\\nTranscript of this recording: milk and bread\\n[IMAGE:");
    await ask(made.agent, "", { session: "s", files: [await made.upload(OGG, "memo.ogg")] });
    expect(lastSent(made.model)).toContain("(This recording could not be transcribed.)");
    expect(shown(made)[0]).toMatchObject({ said: "", files: ["memo.ogg audio/ogg 18", "photo.png image/png 16"] });
  });

  test("stopped while its recording is written down keeps the message with the file", async () => {
    const started = gate();
    const speech: Partial<Speech> = {
      canTranscribe: true,
      transcribe: (_recording, signal) => {
        started.open();
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
      },
    };
    const made = await desk({ speech });
    const turn = failure(ask(made.agent, "x", { session: "s", files: [await made.upload(OGG, "memo.ogg")] }));
    await started.opened;
    made.agent.stop(client, "s", "a test");
    expect(await turn).toMatchObject({ code: "TURN_CANCELLED" });
    expect(shown(made)).toEqual([{ role: "user", said: "x", files: ["memo.ogg audio/ogg 18"] }]);
  });
});

describe("a file of a conversation", () => {
  test("is read there, and in no other one", async () => {
    const { agent, attachments, upload } = await desk();
    const id = await upload();
    expect(await failure(attachments.read(id, client, "s"))).toMatchObject({ code: "FILE_UNKNOWN" });
    await ask(agent, "look", { session: "s", files: [id] });
    expect(await attachments.read(id, client, "s")).toEqual({ name: "photo.png", type: "image/png", bytes: PNG });
    for (const [owner, name] of [
      [other, "s"],
      [client, "s2"],
    ] as const) {
      expect(await failure(attachments.read(id, owner, name))).toMatchObject({ code: "FILE_UNKNOWN" });
    }
  });

  test("that an agent wrote anew has the type of what it is now", async () => {
    const { agent, attachments, workspace, upload } = await desk();
    const id = await upload();
    await ask(agent, "look", { session: "s", files: [id] });
    const path = `media/${TODAY}/${id}-photo.png`;
    await workspace.write(path, Buffer.from("<script>alert(1)</script>"), "replace");
    expect(await attachments.read(id, client, "s")).toMatchObject({ type: "text/plain" });
    await workspace.remove(path);
    expect(await failure(attachments.read(id, client, "s"))).toMatchObject({ code: "FILE_UNKNOWN" });
  });

  test("goes with its conversation, and stays where that was only put aside", async () => {
    const { agent, attachments, store, workspace, upload } = await desk({ answers: [[text("a")], [text("b")]] });
    const [kept, gone] = [await upload(PNG, "kept.png"), await upload(PNG, "gone.png")];
    await ask(agent, "look", { session: "s", files: [kept] });
    await store.write(() => store.sessions.putAside(client, "s"));
    agent.reread();
    await ask(agent, "look", { session: "s", files: [gone] });
    const [second, first] = agent.sessions.list({}, 2);
    expect(await failure(attachments.read(kept, client, "s"))).toMatchObject({ code: "FILE_UNKNOWN" });
    await attachments.read(kept, client, first!.name);
    await agent.sessions.remove(second!.id);
    expect(await failure(attachments.read(gone, client, "s"))).toMatchObject({ code: "FILE_UNKNOWN" });
    expect(await attachments.sweep()).toBe(1);
    expect(readdirSync(join(workspace.root, `media/${TODAY}`))).toEqual([`${kept}-kept.png`]);
    expect(await attachments.sweep()).toBe(0);
  });
});

describe("what a kill leaves behind", () => {
  test("a part of an upload, and one that is in no table, are removed by the next start", async () => {
    const { attachments, folder, upload, waiting } = await desk();
    const id = await upload();
    for (const name of ["0011223344556677.part", "8899aabbccddeeff"]) writeFileSync(join(folder, name), "x");
    mkdirSync(join(folder, "a folder"));
    await attachments.removeLeftovers();
    expect(waiting().sort()).toEqual([id, "a folder"].sort());
  });

  test("a copy whose message was not stored goes when the upload expires", async () => {
    const { attachments, workspace, upload, clock, waiting } = await desk();
    const id = await upload();
    await attachments.place(client, [id], "default");
    expect(await attachments.sweep()).toBe(0);
    await clock.advance(DAY_MS + 1);
    expect(await attachments.sweep()).toBe(1);
    expect([waiting(), readdirSync(join(workspace.root, "media"))]).toEqual([[], []]);
  });

  test("an unsent upload expires after a day, not before, also where the clock was set back", async () => {
    const { attachments, upload, clock, waiting } = await desk();
    await upload();
    await clock.advance(DAY_MS);
    expect(await attachments.sweep()).toBe(0);
    await clock.advance(1);
    expect([await attachments.sweep(), waiting()]).toEqual([1, []]);
  });
});
