// A message or half an answer that is lost, whatever ends its turn; a conversation that only the device that began it can go on with,
// or that a device sees which must not; a reply by hand that goes to another person, or that is missing in the audit log.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { type FakeModelServer, fakeModelServer } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { describe, expect, test } from "vitest";
import { eventually, PERSON, startChannelFixture } from "./channel-fixture.ts";
import { homeWith, localModel, post } from "./daemon.ts";
import { Follower } from "./follower.ts";

interface Page {
  readonly messages: readonly {
    readonly turn_id: string;
    readonly role: string;
    readonly text: string;
    readonly state: string;
    readonly kind: string;
    readonly replaced: boolean;
    readonly author: { readonly kind: string; readonly name: string | null } | null;
    readonly problem: { readonly code: string; readonly reason: string; readonly fix: string | null } | null;
  }[];
  readonly newest: { readonly turn_id: string; readonly can: readonly string[] } | null;
}

interface Desk extends AsyncDisposable {
  readonly home: string;
  readonly model: FakeModelServer;
  daemon: RunningBinary;
  readonly desk: string;
  /** Makes one more device. */
  pair(name: string, scope?: string): Promise<string>;
  ask(token: string, method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Answer>;
  page(token: string, id: string): Promise<Page>;
  /** Resolves once the conversation is as wanted. */
  until(id: string, isSo: (page: Page) => boolean): Promise<Page>;
}

interface Answer {
  readonly status: number;
  readonly json: Record<string, any>;
}

async function open(script: ModelStep[] | ((text: string) => ModelStep)): Promise<Desk> {
  const textOf = (body: Record<string, unknown>): string => JSON.stringify((body["messages"] as unknown[]).at(-1));
  const model = await fakeModelServer({
    script: typeof script === "function" ? ({ body }) => script(textOf(body)) : script,
  });
  const home = homeWith(`${localModel(model)}\nmax_retries = 0\n`);
  const daemon = await startBinary({ home: home.path });
  const made: Desk = {
    home: home.path,
    model,
    daemon,
    desk: await daemon.pair(),
    async pair(name, scope = "operator") {
      const { stdout } = await runBinary(["pair", "--name", name, "--scope", scope], { home: home.path });
      return made.daemon.pair(/\b\d{6}\b/.exec(stdout)?.[0]);
    },
    async ask(token, method, path, body, headers = {}) {
      const response = await made.daemon.request(path, { method, token, headers, ...(body && { body }) });
      return { status: response.status, json: (await response.json()) as Record<string, any> };
    },
    page: async (token, id) => (await made.ask(token, "GET", `/api/sessions/${id}/messages`)).json as never,
    async until(id, isSo) {
      for (;;) {
        const page = await made.page(made.desk, id);
        if (page.messages && isSo(page)) return page;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async [Symbol.asyncDispose]() {
      await made.daemon.close();
      await model.close();
      home[Symbol.dispose]();
    },
  };
  return made;
}

const shown = ({ messages }: Page) => messages.map(({ role, text, state }) => [role, text, state]);
const isOver = ({ messages }: Page): boolean =>
  messages.length > 0 && messages.every(({ state }) => state !== "running" && state !== "waiting");
/** Says the first half, and no more. */
const halfway = (text: string): ModelStep => ({ text, midway: () => new Promise(() => {}) });
const promptOf = ({ model }: Desk, index = model.requests.length - 1) =>
  (model.requests[index]!.body["messages"] as { role: string; content: unknown }[]).map(({ role, content }) => [
    role,
    content,
  ]);

describe("a turn that is stopped", () => {
  test("keeps its message and half its answer; another device sees it, and asks for the rest", async () => {
    await using fixture = await open([halfway("one two three four"), { text: "three four." }]);
    const phone = await fixture.pair("phone");
    const follower = await Follower.stream(fixture.daemon, phone);
    const begun = await fixture.ask(fixture.desk, "POST", "/api/sessions", {
      message: "count",
      session_id: "counting",
    });
    expect([begun.status, begun.json]).toMatchObject([202, { session_id: "counting", state: "running" }]);
    const { id, turn_id: turn } = begun.json as { id: string; turn_id: string };
    await follower.first("text-delta");
    const running = await fixture.until(id, ({ messages }) => messages.length === 2);
    expect(running.messages[0]).toMatchObject({ role: "user", text: "count", state: "running", turn_id: turn });

    // What is sent now waits, and is stopped with the rest.
    const queued = await fixture.ask(phone, "POST", `/api/sessions/${id}/messages`, { message: "and backwards" });
    expect([queued.status, queued.json["state"]]).toEqual([202, "waiting"]);
    await follower.first("turn-store");
    for (const how of ["retry", "continue"]) {
      expect((await fixture.ask(phone, "POST", `/api/sessions/${id}/turns/${turn}/${how}`)).json["code"]).toBe(
        "TURN_RUNNING",
      );
    }
    expect((await fixture.ask(phone, "POST", `/api/sessions/${id}/cancel`)).json).toEqual({ id, cancelled: true });
    const stopped = await fixture.until(id, isOver);
    const half = stopped.messages[1]!.text;
    expect("one two three four".startsWith(half) && half !== "").toBe(true);
    expect(shown(stopped)).toEqual([
      ["user", "count", "stopped"],
      ["assistant", half, "stopped"],
      ["user", "and backwards", "stopped"],
    ]);
    expect(stopped.messages.map(({ author }) => author?.name)).toEqual(["device", undefined, "phone"]);
    expect(stopped.messages[0]!.problem).toMatchObject({
      code: "TURN_CANCELLED",
      reason: expect.stringContaining("operator"),
    });
    expect(stopped.newest?.can).toEqual(["retry", "edit"]);

    const edited = await fixture.ask(phone, "POST", `/api/sessions/${id}/turns/${stopped.newest!.turn_id}/edit`, {
      message: "go on counting",
    });
    expect(edited.status).toBe(202);
    const done = await fixture.until(id, isOver);
    expect(done.messages.map(({ text, replaced }) => [text, replaced]).slice(2)).toEqual([
      ["and backwards", true],
      ["go on counting", false],
      ["three four.", false],
    ]);
    expect(promptOf(fixture)).toEqual([
      ["user", "count"],
      ["assistant", expect.stringContaining(half)],
      ["user", "go on counting"],
    ]);
  });
});

describe("a model that fails", () => {
  test.each<[string, ModelStep, string, RegExp]>([
    ["401", { status: 401, message: "wrong key sk-secret" }, "MODEL_REFUSED", /api_key/],
    ["429", { status: 429 }, "MODEL_REFUSED", /limit|credit/],
    ["500", { status: 500 }, "MODEL_REFUSED", /again in a few minutes/],
    ["a lost connection", { fault: "drop" }, "MODEL_UNREACHABLE", /network/],
  ])(
    "with %s: the message stays with the reason and the fix, and is sent again by any operator",
    async (_, step, code, fix) => {
      await using fixture = await open([step, { text: "hello" }]);
      const phone = await fixture.pair("phone");
      const { id } = (await fixture.ask(fixture.desk, "POST", "/api/sessions", { message: "hi" })).json;
      const failed = await fixture.until(id, isOver);
      expect(shown(failed)).toEqual([["user", "hi", "failed"]]);
      const { problem } = failed.messages[0]!;
      expect([problem!.code, problem!.fix]).toEqual([code, expect.stringMatching(fix)]);
      expect(JSON.stringify(failed)).not.toContain("sk-secret");
      expect(failed.newest?.can).toEqual(["retry", "edit"]);
      const turn = `/api/sessions/${id}/turns/${failed.newest!.turn_id}`;
      expect((await fixture.ask(phone, "POST", `${turn}/continue`)).json["code"]).toBe("TURN_STATE");

      // Of all who want to go on, one is first.
      const ways = await Promise.all([
        fixture.ask(phone, "POST", `${turn}/retry`),
        fixture.ask(fixture.desk, "POST", `${turn}/retry`),
        fixture.ask(fixture.desk, "POST", `${turn}/edit`, { message: "hi there" }),
      ]);
      const codes = ways.map(({ status, json }) => (status === 202 ? "taken" : json["code"]));
      expect(codes.filter((one) => one === "taken")).toHaveLength(1);
      expect(codes.every((one) => ["taken", "TURN_RUNNING", "TURN_STATE"].includes(one))).toBe(true);
      const done = await fixture.until(id, (page) => isOver(page) && page.newest === null);
      expect(done.messages.map(({ state, replaced }) => [state, replaced])).toEqual([
        ["failed", true],
        ["done", false],
        ["done", false],
      ]);
      expect(fixture.model.requests).toHaveLength(2);
    },
  );

  test("by never answering: it is stopped by hand, and leaves its message; so does one of POST /webhook and of svc chat", async () => {
    await using fixture = await open((text) => (text.includes("hang") ? { fault: "hang" } : { status: 401 }));
    const { id } = (await fixture.ask(fixture.desk, "POST", "/api/sessions", { message: "hang" })).json;
    await fixture.model.arrived(0);
    await fixture.ask(fixture.desk, "POST", `/api/sessions/${id}/cancel`);
    expect(shown(await fixture.until(id, isOver))).toEqual([["user", "hang", "stopped"]]);
    expect((await post(fixture.daemon, fixture.desk, "from a program", { "X-Session-Id": "program" })).status).toBe(
      502,
    );
    await runBinary(["chat", "-m", "from the terminal"], { home: fixture.home });
    const { sessions } = (await fixture.ask(fixture.desk, "GET", "/api/sessions")).json;
    const authors = [];
    for (const { id, kind } of sessions.slice(0, 2)) {
      const { messages } = await fixture.page(fixture.desk, id);
      authors.push([kind, messages[0]!.text, messages[0]!.state, messages[0]!.author?.kind]);
    }
    expect(authors).toEqual([
      ["chat", "from the terminal", "failed", "terminal"],
      ["chat", "from a program", "failed", "device"],
    ]);
    const shownThere = await runBinary(["sessions", "show", sessions[0].id], { home: fixture.home });
    expect(shownThere.stdout).toMatch(/terminal[^]*from the terminal[^]*failed[^]*MODEL_REFUSED/);
  });
});

describe("a daemon that is killed in the middle of a turn", () => {
  test("has the message, the one behind it and what came of the answer after the next start; the phone goes on", async () => {
    await using fixture = await open([halfway("Once upon a time there was a cat"), { text: "who slept." }]);
    const follower = await Follower.stream(fixture.daemon, fixture.desk);
    const { id } = (await fixture.ask(fixture.desk, "POST", "/api/sessions", { message: "tell me a story" })).json;
    await follower.first("text-delta");
    await fixture.ask(fixture.desk, "POST", `/api/sessions/${id}/messages`, { message: "a short one" });
    const half = await savedAnswer(fixture.home);
    await fixture.daemon.kill9();

    fixture.daemon = await startBinary({ home: fixture.home });
    const phone = await fixture.pair("phone");
    const found = await fixture.until(id, isOver);
    expect(shown(found)).toEqual([
      ["user", "tell me a story", "failed"],
      ["assistant", half, "failed"],
      ["user", "a short one", "failed"],
    ]);
    expect(found.messages[0]).toMatchObject({ author: { name: "device" }, problem: { code: "TURN_INTERRUPTED" } });
    expect(found.messages[0]!.problem!.fix).not.toBeNull();
    const { turn_id: turn } = found.newest!;
    expect((await fixture.ask(phone, "POST", `/api/sessions/${id}/turns/${turn}/retry`)).status).toBe(202);
    const done = await fixture.until(id, isOver);
    expect(done.messages.at(-1)!.text).toBe("who slept.");
    expect(promptOf(fixture)).toEqual([
      ["user", "tell me a story"],
      ["assistant", expect.stringContaining(half)],
      ["user", "a short one"],
    ]);
    // Nothing is found twice.
    await fixture.daemon.stop();
    fixture.daemon = await startBinary({ home: fixture.home });
    expect((await fixture.page(fixture.desk, id)).messages).toHaveLength(done.messages.length);
  });
});

/** What is on disk of the answer that comes, once there is some. */
async function savedAnswer(home: string): Promise<string> {
  const db = new DatabaseSync(join(home, "state", "svc.db"), { readOnly: true });
  try {
    for (;;) {
      const row = db.prepare("SELECT text FROM open_answers").get() as { text: string } | undefined;
      if (row) return row.text;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  } finally {
    db.close();
  }
}

describe("who may", () => {
  test("read and webhook tokens see their own conversations, and open none of the ways to write in others'", async () => {
    await using fixture = await open((text) => (text.includes("fail") ? { status: 401 } : { text: "ok" }));
    const [reader, hook] = [await fixture.pair("reader", "read"), await fixture.pair("hook", "webhook")];
    const { id } = (await fixture.ask(fixture.desk, "POST", "/api/sessions", { message: "fail" })).json;
    const { newest } = await fixture.until(id, isOver);
    await post(fixture.daemon, hook, "mine", { "X-Session-Id": "of-the-hook" });
    expect((await fixture.ask(reader, "GET", "/api/sessions")).json["sessions"]).toEqual([]);
    expect((await fixture.ask(reader, "GET", `/api/sessions/${id}/messages`)).status).toBe(404);
    const paths = [
      "/api/sessions",
      `/api/sessions/${id}/messages`,
      `/api/sessions/${id}/reply`,
      ...["retry", "edit", "continue"].map((how) => `/api/sessions/${id}/turns/${newest!.turn_id}/${how}`),
    ];
    for (const path of paths) {
      for (const token of [reader, hook]) {
        const refused = await fixture.ask(token, "POST", path, { message: "x" });
        expect([path, refused.status, refused.json["code"]]).toEqual([path, 403, "FORBIDDEN_SCOPE"]);
      }
      const stranger = await fixture.daemon.request(path, { method: "POST", body: { message: "x" } });
      expect(stranger.status).toBe(401);
    }
    // A name does not lead into another device's conversation: each device has its own of that name.
    await post(fixture.daemon, hook, "fail?", { "X-Session-Id": "shared" });
    expect((await post(fixture.daemon, fixture.desk, "hi", { "X-Session-Id": "shared" })).status).toBe(200);
    const { sessions } = (await fixture.ask(fixture.desk, "GET", "/api/sessions")).json;
    expect(sessions.filter(({ session_id }: any) => session_id === "shared")).toHaveLength(2);
    expect(fixture.model.requests.at(-1)!.body["messages"]).toHaveLength(1);
    // An operator goes on with the hook's, and its author is told.
    const hooks = sessions.find(({ session_id }: any) => session_id === "of-the-hook");
    expect(
      (await fixture.ask(fixture.desk, "POST", `/api/sessions/${hooks.id}/messages`, { message: "and mine" })).status,
    ).toBe(202);
    const page = await fixture.until(hooks.id, (page) => isOver(page) && page.messages.length === 4);
    expect(page.messages.map(({ author }) => author?.name ?? null)).toEqual(["hook", null, "device", null]);
  });

  test("a forged turn, one of another conversation, one that is gone: refused, and nothing runs", async () => {
    await using fixture = await open((text) => (text.includes("fail") ? { status: 401 } : { text: "ok" }));
    const begin = async (message: string) => {
      const { id } = (await fixture.ask(fixture.desk, "POST", "/api/sessions", { message })).json;
      return { id: id as string, page: await fixture.until(id, isOver) };
    };
    const [one, two] = [await begin("fail"), await begin("fail too")];
    const follow = async (id: string, turn: string, how: string) => {
      const { status, json } = await fixture.ask(fixture.desk, "POST", `/api/sessions/${id}/turns/${turn}/${how}`, {
        message: "x",
      });
      return [status, json["code"]];
    };
    for (const how of ["retry", "edit", "continue"]) {
      expect(await follow(one.id, "t-forged", how)).toEqual([404, "TURN_UNKNOWN"]);
      expect(await follow(one.id, "..%2f..%2fx", how)).toEqual([404, "TURN_UNKNOWN"]);
      expect(await follow(one.id, two.page.newest!.turn_id, how)).toEqual([404, "TURN_UNKNOWN"]);
      expect(await follow("nobody", one.page.newest!.turn_id, how)).toEqual([404, "SESSION_UNKNOWN"]);
    }
    const { turn_id: turn } = one.page.newest!;
    const [removed, retried] = await Promise.all([
      fixture.ask(fixture.desk, "DELETE", `/api/sessions/${one.id}`),
      follow(one.id, turn, "retry"),
    ]);
    expect(removed.status).toBe(200);
    expect([202, 404]).toContain(retried[0]);
    // A retry that came before the removal may still be ending.
    const after = await eventually(
      () => follow(one.id, turn, "retry"),
      ([status]) => status !== 409,
    );
    expect(after).toEqual([404, "SESSION_UNKNOWN"]);
    expect((await fixture.ask(fixture.desk, "GET", "/api/sessions")).json["sessions"].map(({ id }: any) => id)).toEqual(
      [two.id],
    );
    expect(await follow(two.id, two.page.newest!.turn_id, "edit")).toEqual([202, undefined]);
    expect((await fixture.until(two.id, isOver)).newest).toBeNull();
  });

  test("a message that is sent twice with one key is one message", async () => {
    await using fixture = await open(() => ({ text: "ok" }));
    const send = () =>
      fixture.ask(
        fixture.desk,
        "POST",
        "/api/sessions",
        { message: "hi", session_id: "s" },
        { "X-Idempotency-Key": "k" },
      );
    const both = await Promise.all([send(), send()]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 202]);
    expect(both.find(({ status }) => status === 200)!.json["status"]).toBe("duplicate");
    const { id } = both.find(({ status }) => status === 202)!.json;
    expect((await fixture.until(id, isOver)).messages).toHaveLength(2);
    for (const [body, code] of [
      [{ message: " " }, "BAD_REQUEST"],
      [{ message: "x", session_id: "a b" }, "BAD_REQUEST"],
      [{}, "BAD_REQUEST"],
    ] as const) {
      expect((await fixture.ask(fixture.desk, "POST", "/api/sessions", body)).json["code"]).toBe(code);
    }
  });
});

test("people on a channel are answered by hand: delivered as the model's answers are, audited, and told to the model", async () => {
  await using model = await fakeModelServer({ script: [{ status: 401 }, { text: "Gladly." }] });
  await using fixture = await startChannelFixture(`${localModel(model)}\nmax_retries = 0\n`);
  const token = await fixture.daemon.pair();
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fixture.daemon.request(path, { method, token, ...(body && { body }) });
    return { status: response.status, json: (await response.json()) as Record<string, any> };
  };
  expect(await fixture.write({ text: "Are you open?" })).toEqual([200]);
  await expect.poll(() => fixture.platform.sent.length).toBe(1);
  const [session] = (await ask("GET", "/api/sessions")).json["sessions"];
  expect(session).toMatchObject({ kind: "channel", channel: { channel: "provider_a", id: PERSON } });
  const path = `/api/sessions/${session.id}`;
  const failed = (await ask("GET", `${path}/messages`)).json as unknown as Page;
  expect(shown(failed)).toEqual([["user", "Are you open?", "failed"]]);
  expect([failed.messages[0]!.author, failed.newest]).toMatchObject([{ kind: "person" }, null]);
  // It is not written to as if one were the person.
  expect((await ask("POST", `${path}/messages`, { message: "x" })).json["code"]).toBe("SESSION_KIND");
  const retry = await ask("POST", `${path}/turns/${failed.messages[0]!.turn_id}/retry`);
  expect(retry.json["code"]).toBe("SESSION_KIND");

  const reply = await ask("POST", `${path}/reply`, { message: "Yes, from ten. approve #1" });
  expect(reply.status).toBe(202);
  await expect.poll(() => fixture.platform.sent.at(-1)?.text).toBe("Yes, from ten. approve #1");
  expect(fixture.platform.sent.at(-1)!.to).toBe(fixture.platform.sent[0]!.to);
  const { messages } = (await ask("GET", `${path}/messages`)).json as unknown as Page;
  expect(messages.at(-1)).toMatchObject({
    role: "assistant",
    kind: "by_hand",
    author: { kind: "device", name: "device" },
  });
  const { entries } = (await ask("GET", "/api/audit")).json;
  expect(entries[0]).toMatchObject({ kind: "reply_by_hand", data: { channel: "provider_a", by: "device" } });
  expect(JSON.stringify(entries)).not.toContain("from ten");

  await fixture.write({ text: "Thank you, book it" });
  await expect.poll(() => fixture.platform.sent.at(-1)?.text).toBe("Gladly.");
  const prompt = model.requests.at(-1)!.body["messages"] as unknown as { role: string; content: string }[];
  const said = prompt.filter(({ role }) => role !== "system");
  expect(said.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
  expect(said[3]!.content).toBe("Yes, from ten. approve #1");
  // A conversation of the page has no people on a channel.
  const { id } = (await ask("POST", "/api/sessions", { message: "hi" })).json;
  expect((await ask("POST", `/api/sessions/${id}/reply`, { message: "x" })).json["code"]).toBe("SESSION_KIND");
});
