// Files that come with messages of the page, on the whole binary: a gigabyte, half of one, somebody else's, a page that says it is a
// picture, a name that leads out of the workspace, and a kill at each point between the upload and the answer.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import { createServer } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { type FakeModelServer, fakeModelServer } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { expect, onTestFinished, test } from "vitest";
import { homeWith, localModel } from "./daemon.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const OGG = Buffer.from("OggS\0\x02....OpusHead", "latin1");

interface Answer {
  readonly status: number;
  readonly json: Record<string, any>;
}

class Desk {
  readonly home: string;
  readonly model: FakeModelServer;
  daemon!: RunningBinary;
  token = "";

  constructor(home: string, model: FakeModelServer) {
    this.home = home;
    this.model = model;
  }

  async start(): Promise<this> {
    this.daemon = await startBinary({ home: this.home });
    return this;
  }

  async pair(name: string, scope = "operator"): Promise<string> {
    const { stdout } = await runBinary(["pair", "--name", name, "--scope", scope], { home: this.home });
    return this.daemon.pair(/\b\d{6}\b/.exec(stdout)?.[0]);
  }

  async ask(method: string, path: string, body?: object, token = this.token): Promise<Answer> {
    const response = await this.daemon.request(path, { method, token, ...(body && { body }) });
    return { status: response.status, json: (await response.json()) as Answer["json"] };
  }

  async upload(bytes: Uint8Array, name: string, token = this.token): Promise<Answer> {
    const response = await fetch(new URL("/api/files", this.daemon.url), {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "x-file-name": encodeURIComponent(name),
        "content-type": "text/html",
      },
      body: bytes as Uint8Array<ArrayBuffer>,
    });
    return { status: response.status, json: (await response.json()) as Answer["json"] };
  }

  /** What waits on disk to be sent. */
  waiting(): string[] {
    const folder = join(this.home, "state", "uploads");
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  async messages(id: string): Promise<Answer["json"][]> {
    for (;;) {
      const { json } = await this.ask("GET", `/api/sessions/${id}/messages`);
      const messages = (json["messages"] ?? []) as Answer["json"][];
      if (messages.length > 0 && messages.every(({ state }) => state !== "running" && state !== "waiting"))
        return messages;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** The last that the model was asked. */
  asked(): string {
    return JSON.stringify((this.model.requests.at(-1)!.body["messages"] as unknown[]).at(-1));
  }
}

async function open(script: ModelStep[], more = ""): Promise<Desk> {
  const model = await fakeModelServer({ script });
  const home = homeWith(`${localModel(model)}\nmax_retries = 0\n${more}`);
  const desk = await new Desk(home.path, model).start();
  desk.token = await desk.daemon.pair();
  onTestFinished(async () => {
    await desk.daemon.close();
    await model.close();
    home[Symbol.dispose]();
  });
  return desk;
}

test("files of a message reach the workspace and the model, and come back as what their bytes are", async () => {
  const desk = await open([{ text: "nice" }]);
  const page = Buffer.from("<!doctype html><script>alert(1)</script>");
  const sent = [
    await desk.upload(PNG, "../../x.png"),
    await desk.upload(Buffer.concat([PNG, page]), "polyglot.html"),
    await desk.upload(page, "page.png"),
    await desk.upload(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'), "a.svg"),
  ];
  expect(sent.map(({ status, json }) => [status, json["name"], json["type"]])).toEqual([
    [201, "x.png", "image/png"],
    [201, "polyglot.html", "image/png"],
    [201, "page.png", "text/plain"],
    [201, "a.svg", "text/plain"],
  ]);
  const files = sent.map(({ json }) => json["id"] as string);
  const begun = await desk.ask("POST", "/api/sessions", { message: "look", files });
  expect(begun.status).toBe(202);
  const id = begun.json["id"] as string;
  const [question] = await desk.messages(id);
  expect(question).toMatchObject({ text: "look", files: sent.map(({ json }) => json) });
  const paths = [...desk.asked().matchAll(/\[(?:IMAGE|DOCUMENT):([^\]]+)\]/g)].map(([, path]) => path!);
  expect(paths.map((path) => path.replace(/^media\/\d{4}-\d\d-\d\d\/[0-9a-f]{16}-/, ""))).toEqual([
    "x.png",
    "polyglot.html",
    "page.png",
    "a.svg",
  ]);
  expect(readFileSync(join(desk.home, "workspace", paths[0]!))).toEqual(PNG);
  expect(desk.waiting()).toEqual([]);
  const back = await Promise.all(
    files.map((file) => desk.daemon.request(`/api/sessions/${id}/files/${file}`, { token: desk.token })),
  );
  expect(
    back.map(({ headers }) => [headers.get("content-type"), headers.get("content-disposition")!.split(";")[0]]),
  ).toEqual([
    ["image/png", "inline"],
    ["image/png", "inline"],
    ["application/octet-stream", "attachment"],
    ["application/octet-stream", "attachment"],
  ]);
  for (const { headers } of back) {
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("sandbox");
  }
  expect(Buffer.from(await back[0]!.arrayBuffer())).toEqual(PNG);
  // They go with their conversation.
  expect((await desk.ask("DELETE", `/api/sessions/${id}`)).status).toBe(200);
  expect(existsSync(join(desk.home, "workspace", paths[0]!))).toBe(false);
});

test("forged, foreign and used ids are refused, and nothing is sent", async () => {
  const desk = await open([{ text: "one" }]);
  const phone = await desk.pair("phone");
  const reader = await desk.pair("reader", "read");
  const mine = (await desk.upload(PNG, "a.png")).json["id"] as string;
  const theirs = (await desk.upload(PNG, "b.png", phone)).json["id"] as string;
  expect((await desk.upload(PNG, "c.png", reader)).status).toBe(403);
  for (const files of [[theirs], [mine, theirs], ["0123456789abcdef"]]) {
    const refused = await desk.ask("POST", "/api/sessions", { message: "x", files });
    expect([refused.status, refused.json["code"]]).toEqual([404, "FILE_UNKNOWN"]);
  }
  expect((await desk.ask("POST", "/api/sessions", { message: "x", files: ["../../../svc.db"] })).status).toBe(400);
  expect(desk.model.requests).toEqual([]);
  expect((await desk.ask("GET", "/api/sessions")).json["sessions"]).toEqual([]);
  const { json } = await desk.ask("POST", "/api/sessions", { message: "x", files: [mine] });
  await desk.messages(json["id"] as string);
  expect((await desk.ask("POST", "/api/sessions", { message: "x", files: [mine] })).json["code"]).toBe("FILE_UNKNOWN");
  // What was sent is read in its conversation alone, and by no reader of others.
  const other = await desk.ask("POST", "/api/sessions", { message: "y", session_id: "other" });
  await desk.messages(other.json["id"] as string);
  const at = (id: unknown) => `/api/sessions/${String(id)}/files/${mine}`;
  expect((await desk.ask("GET", at(other.json["id"]))).json["code"]).toBe("FILE_UNKNOWN");
  expect((await desk.ask("GET", at(json["id"]), undefined, reader)).json["code"]).toBe("SESSION_UNKNOWN");
});

test("a gigabyte is refused at once where it is declared, at 25 MiB where it is not", async () => {
  const desk = await open([]);
  const head = (length: string): string =>
    `POST /api/files HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${desk.token}\r\n${length}\r\n\r\n`;
  const port = Number(new URL(desk.daemon.url).port);
  const exchange = async (first: string, more: readonly Buffer[] = []): Promise<string> => {
    const socket = connect({ host: "127.0.0.1", port }).on("error", () => {});
    const answer = text(socket);
    Readable.from([Buffer.from(first), ...more]).pipe(socket, { end: false });
    return await answer;
  };
  expect(await exchange(head("Content-Length: 1073741824"))).toMatch(/^HTTP\/1\.1 413 /);
  const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(1_048_576, 120), Buffer.from("\r\n")]);
  const endless = await exchange(
    head("Transfer-Encoding: chunked"),
    Array.from({ length: 1024 }, () => chunk),
  );
  expect(endless).toMatch(/^HTTP\/1\.1 413 /);
  expect(endless).toContain("TOO_LARGE");
  expect(desk.waiting()).toEqual([]);
  expect((await desk.upload(PNG, "a.png")).status).toBe(201);
});

test("a kill in the middle of an upload leaves nothing; one between upload and message, and one behind it, lose nothing", async () => {
  const desk = await open([{ text: "one" }, { text: "half", midway: () => new Promise(() => {}) }]);
  const kept = (await desk.upload(PNG, "a.png")).json["id"] as string;
  const port = Number(new URL(desk.daemon.url).port);
  const socket = connect({ host: "127.0.0.1", port }).on("error", () => {});
  socket.write(
    `POST /api/files HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${desk.token}\r\nContent-Length: 1000\r\n\r\nhalf`,
  );
  while (desk.waiting().length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  await desk.daemon.kill9();
  expect(desk.waiting().filter((name) => name.endsWith(".part"))).toHaveLength(1);
  await desk.start();
  expect(desk.waiting()).toEqual([kept]);
  const first = await desk.ask("POST", "/api/sessions", { message: "look", files: [kept], session_id: "s" });
  await desk.messages(first.json["id"] as string);
  expect(desk.asked()).toContain(`${kept}-a.png`);

  const again = (await desk.upload(PNG, "b.png")).json["id"] as string;
  const second = await desk.ask("POST", `/api/sessions/${String(first.json["id"])}/messages`, { files: [again] });
  expect(second.status).toBe(202);
  await desk.daemon.kill9();
  await desk.start();
  const messages = await desk.messages(first.json["id"] as string);
  const question = messages.findLast(({ role }) => role === "user")!;
  expect(question).toMatchObject({ text: "", state: "failed", files: [{ id: again, name: "b.png" }] });
  const file = await desk.daemon.request(`/api/sessions/${String(first.json["id"])}/files/${again}`, {
    token: desk.token,
  });
  expect(Buffer.from(await file.arrayBuffer())).toEqual(PNG);
});

test("recordings are written down where transcription is on, and refused with a code where it is off", async () => {
  const heard: string[] = [];
  const service = createServer(async (request, response) => {
    heard.push((await buffer(request)).toString("latin1"));
    response.setHeader("content-type", "application/json").end(JSON.stringify({ text: "milk and bread" }));
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void service.close());
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/v1`;
  const transcribe = (desk: Desk, bytes: Buffer) =>
    fetch(new URL("/api/transcriptions", desk.daemon.url), {
      method: "POST",
      headers: { authorization: `Bearer ${desk.token}` },
      body: bytes as Buffer<ArrayBuffer>,
    });
  const off = await open([]);
  const refused = await transcribe(off, OGG);
  expect([refused.status, await refused.json()]).toMatchObject([409, { code: "TRANSCRIPTION_OFF" }]);
  expect((await off.ask("GET", "/api/status")).json["transcription"]).toBe(false);

  const on = await open(
    [{ text: "noted" }],
    `[transcription]\nenabled = true\nbase_url = "${url}"\nmodel = "whisper-1"\n`,
  );
  expect((await on.ask("GET", "/api/status")).json["transcription"]).toBe(true);
  expect(await (await transcribe(on, OGG)).json()).toEqual({ text: "milk and bread" });
  expect(heard[0]).toContain('filename="recording.ogg"');
  expect((await transcribe(on, Buffer.from("<html>"))).status).toBe(400);
  const file = (await on.upload(OGG, "memo.ogg")).json["id"] as string;
  const { json } = await on.ask("POST", "/api/sessions", { files: [file] });
  const [question] = await on.messages(json["id"] as string);
  expect(question).toMatchObject({ text: "", files: [{ name: "memo.ogg", type: "audio/ogg" }] });
  expect(on.asked()).toContain("Transcript of this recording: milk and bread");
});
