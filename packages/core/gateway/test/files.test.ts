// A file of a stranger in the operator's browser: uploads without an end, and downloads that become pages of ours.
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { FILE_ID, RECORDING } from "./file-provocations.ts";
import { Harness, sessionInfo } from "./harness.ts";
import { call, codeOf, statusOf, tick, until, Wire } from "./http.ts";

const MIB = 1_048_576;

async function started() {
  const gateway = new Harness();
  const [token, reader, program] = [gateway.device("operator"), gateway.device("read"), gateway.device("webhook")];
  gateway.sessions.push(
    sessionInfo({ id: "1", clientId: "client-operator" as never, name: "a" }),
    sessionInfo({ id: "2", clientId: "client-read" as never, name: "b" }),
  );
  await gateway.start();
  const bearer = (of: string) => ({ authorization: `Bearer ${of}` });
  const upload = (body: string | Buffer, headers: Record<string, string> = {}) =>
    call(gateway, { method: "POST", path: "/api/files", headers: { ...bearer(token), ...headers }, body });
  const open = (path: string, of = token) => call(gateway, { path, headers: bearer(of) });
  return { gateway, token, reader, program, bearer, upload, open };
}

describe("an upload", () => {
  test("is taken with any content type, and named by its header", async () => {
    const { gateway, upload } = await started();
    const sent = await upload("hello", { "x-file-name": "Gr%C3%BC%C3%9Fe.txt", "content-type": "text/html" });
    expect(sent).toMatchObject({ status: 201, json: { name: "Grüße.txt", type: "text/plain", size: 5 } });
    expect(gateway.attachments.uploads.get(sent.json.id)!.bytes.toString()).toBe("hello");
    expect((await upload("hello", { "x-file-name": "%ff" })).json.code).toBe("BAD_REQUEST");
  });

  test("that declares a gigabyte is refused before a byte of it is read", async () => {
    const { gateway, token } = await started();
    const wire = new Wire(gateway);
    const head = `POST /api/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
    wire.write(`${head}Content-Length: 1073741824\r\n\r\n`);
    const [answer] = await wire.responses(1);
    expect([statusOf(answer!), codeOf(answer!), gateway.attachments.received]).toEqual([413, "TOO_LARGE", 0]);
    wire.socket.destroy();
  });

  test("without an end is refused at its limit, and nobody waits for the rest", async () => {
    const { gateway, token } = await started();
    const wire = new Wire(gateway);
    wire.write(
      `POST /api/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const chunk = `${MIB.toString(16)}\r\n${"x".repeat(MIB)}\r\n`;
    const answered = wire.responses(1);
    for (let sent = 0; sent < 26; sent += 1) wire.write(chunk);
    const [answer] = await answered;
    expect([statusOf(answer!), codeOf(answer!)]).toEqual([413, "TOO_LARGE"]);
    expect(gateway.attachments.received).toBeLessThanOrEqual(25 * MIB);
    wire.socket.destroy();
  });

  test("that breaks off in the middle fails, and the gateway goes on", async () => {
    const { gateway, token, upload } = await started();
    const wire = new Wire(gateway);
    wire.write(
      `POST /api/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: 100\r\n\r\nhalf`,
    );
    await until(() => gateway.attachments.received === 4);
    wire.socket.destroy();
    await tick();
    expect((await upload("whole")).status).toBe(201);
    expect([...gateway.attachments.uploads.values()].map(({ bytes }) => bytes.toString())).toEqual(["whole"]);
  });

  test("of a device that is revoked in the middle is not kept", async () => {
    const { gateway, token } = await started();
    const wire = new Wire(gateway);
    wire.write(
      `POST /api/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: 8\r\n\r\nhalf`,
    );
    await until(() => gateway.attachments.received === 4);
    await gateway.gateway.devices.revoke("dev-operator");
    const [answer] = await wire.responses(1);
    expect(statusOf(answer!)).toBe(401);
    wire.write("more");
    await tick();
    expect(gateway.attachments.uploads.size).toBe(0);
    wire.socket.destroy();
  });

  test("is for operators, and not for a page of another site", async () => {
    const { gateway, reader, program, bearer } = await started();
    const ask = (headers: Record<string, string>) =>
      call(gateway, { method: "POST", path: "/api/files", headers, body: "x" });
    expect((await ask({})).status).toBe(401);
    for (const of of [reader, program]) expect((await ask(bearer(of))).json.code).toBe("FORBIDDEN_SCOPE");
    expect((await ask({ origin: "https://evil.example" })).json.code).toBe("BAD_ORIGIN");
    expect(gateway.attachments.received).toBe(0);
  });
});

describe("a file of a conversation", () => {
  test.each(["text/plain", "application/pdf", "image/heic", "application/octet-stream", "audio/ogg"])(
    "of type %s is one to save, and no page",
    async (type) => {
      const { gateway, open } = await started();
      const bytes = Buffer.from("<script>alert(1)</script>");
      gateway.attachments.files.set(FILE_ID, { name: 'a"\\;\r\nX: y.html', type, bytes });
      const { status, headers } = await open(`/api/sessions/1/files/${FILE_ID}`);
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        "content-type": "application/octet-stream",
        "content-disposition": `attachment; filename="a_____X_ y.html"; filename*=UTF-8''a%22%5C%3B%0D%0AX%3A%20y.html`,
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
      });
      expect(headers).not.toHaveProperty("x");
    },
  );

  test("that is a picture is shown as one, whatever its name says", async () => {
    const { gateway, open } = await started();
    gateway.attachments.files.set(FILE_ID, { name: "x.html", type: "image/png", bytes: Buffer.from("<script>") });
    const { headers } = await open(`/api/sessions/1/files/${FILE_ID}`);
    expect(headers).toMatchObject({
      "content-type": "image/png",
      "x-content-type-options": "nosniff",
      "content-disposition": `inline; filename="x.html"; filename*=UTF-8''x.html`,
      "content-security-policy": expect.stringContaining("sandbox"),
    });
  });

  test("is read by who may read the conversation", async () => {
    const { gateway, open, reader, program } = await started();
    gateway.attachments.files.set(FILE_ID, { name: "a", type: "text/plain", bytes: Buffer.from("x") });
    expect((await open(`/api/sessions/2/files/${FILE_ID}`, reader)).status).toBe(200);
    expect((await open(`/api/sessions/1/files/${FILE_ID}`, reader)).json.code).toBe("SESSION_UNKNOWN");
    expect((await open(`/api/sessions/1/files/${FILE_ID}`, program)).json.code).toBe("FORBIDDEN_SCOPE");
    expect((await call(gateway, { path: `/api/sessions/1/files/${FILE_ID}` })).status).toBe(401);
    for (const name of ["..%2f..%2fsvc.db", "%00", "nope"]) {
      expect((await open(`/api/sessions/1/files/${name}`)).status).toBe(404);
    }
  });
});

describe("a message", () => {
  const send = async (body: object) => {
    const { gateway, token, bearer } = await started();
    const headers = { ...bearer(token), "content-type": "application/json" };
    const path = "/api/sessions/1/messages";
    const answer = await call(gateway, { method: "POST", path, headers, body: JSON.stringify(body) });
    return { answer, turn: gateway.turns[0] };
  };

  test("names files by their ids, and needs no words then", async () => {
    const { turn } = await send({ files: [FILE_ID] });
    expect(turn).toMatchObject({ text: "", files: [FILE_ID], clientId: "client-operator" });
    expect((await send({ message: "hi" })).turn).not.toHaveProperty("files");
  });

  test.each([
    [{ message: " " }],
    [{ files: [] }],
    [{ message: "x", files: ["../../x"] }],
    [{ message: "x", files: [FILE_ID.toUpperCase()] }],
    [{ message: "x", files: Array.from({ length: 21 }, () => FILE_ID) }],
    [{ message: "x", files: FILE_ID }],
    [{ message: 7, files: [FILE_ID] }],
  ])("%j is refused", async (body) => {
    const { answer, turn } = await send(body);
    expect([answer.status, answer.json.code, turn]).toEqual([400, "BAD_REQUEST", undefined]);
  });
});

describe("a recording", () => {
  test("is written down, named by what it is", async () => {
    const { gateway, token, bearer } = await started();
    const ask = (body: Buffer) =>
      call(gateway, { method: "POST", path: "/api/transcriptions", headers: bearer(token), body });
    expect((await ask(RECORDING)).json).toEqual({ text: "hello" });
    expect(gateway.speech.heard).toMatchObject([{ name: "recording.ogg", mimeType: "audio/ogg" }]);
    expect((await ask(Buffer.from("<html>"))).json.code).toBe("BAD_REQUEST");
    expect((await ask(Buffer.alloc(0))).json.code).toBe("BAD_REQUEST");
    gateway.speech.fails = new SvcError("TRANSCRIPTION_FAILED");
    expect(await ask(RECORDING)).toMatchObject({ status: 502, json: { code: "TRANSCRIPTION_FAILED" } });
    gateway.speech.canTranscribe = false;
    expect(await ask(RECORDING)).toMatchObject({ status: 409, json: { code: "TRANSCRIPTION_OFF" } });
    expect(gateway.speech.heard).toHaveLength(1);
  });
});

test("a removed conversation takes its files along", async () => {
  const { gateway, token, bearer } = await started();
  await call(gateway, { method: "DELETE", path: "/api/sessions/1", headers: bearer(token) });
  expect(gateway.attachments.sweeps).toBe(1);
});
