// A browser that is signed in must stay so when the service is killed, and be out at once when somebody says so at the terminal.
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome, type TemporaryHome } from "@svc/testkit/temporary-home";
import { afterAll, beforeAll, expect, test } from "vitest";

interface Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

async function signIn(daemon: RunningBinary, code: string): Promise<Page> {
  const headers = { origin: daemon.url, "x-pairing-code": code };
  const answer = await daemon.request("/api/session", { method: "POST", headers });
  const { csrf } = (await answer.json()) as { csrf: string };
  const cookie = /^svc_session=([^;]+); HttpOnly; SameSite=Strict; Path=\/;/.exec(
    answer.headers.get("set-cookie")!,
  )![1]!;
  return { headers: { cookie: `svc_session=${cookie}`, "x-svc-csrf": csrf }, secrets: [cookie, csrf] };
}

/** One home for the whole file: the tests that kill the daemon start the next one in it. */
let home: TemporaryHome;
let daemon: RunningBinary;

beforeAll(async () => {
  home = temporaryHome();
  daemon = await startBinary({ home: home.path });
});

afterAll(async () => {
  await daemon.close();
  home.remove();
});

async function startAgain(env: Readonly<Record<string, string>> = {}): Promise<void> {
  daemon = await startBinary({ home: home.path, env });
}

const codeOf = async (daemon: RunningBinary): Promise<string> =>
  (await daemon.waitFor(/pairing code\D*(\d{6})\b/i))[1]!;
const statusOf = async (daemon: RunningBinary, { headers }: Page): Promise<number> =>
  (await daemon.request("/api/session", { headers })).status;
const revokeAll = async (home: string): Promise<void> => {
  const { stdout } = await runBinary(["devices", "list", "--json"], { home });
  for (const { id } of (JSON.parse(stdout) as { devices: { id: string }[] }).devices) {
    expect((await runBinary(["devices", "revoke", id], { home })).code).toBe(0);
  }
};
const signIns = (home: string): number => {
  const db = new DatabaseSync(join(home, "state", "svc.db"), { readOnly: true });
  try {
    return (db.prepare("SELECT count(*) AS n FROM page_sessions").get() as { n: number }).n;
  } finally {
    db.close();
  }
};

test("svc pair and the first start print a link and a QR code; the code is in the fragment and in no log", async () => {
  const code = await codeOf(daemon);
  await daemon.waitFor(new RegExp(`${daemon.url}/#pair=${code}`));
  expect(daemon.output()).toMatch(/[▀▄█]{10}/);
  const paired = await runBinary(["pair", "--name", "phone"], { home: home.path });
  const made = /pairing code: (\d{6})/.exec(paired.stdout)![1]!;
  expect(paired.stdout).toContain(`${daemon.url}/#pair=${made}`);
  expect(paired.stdout).toMatch(/[▀▄█]{10}/);
  const json = JSON.parse((await runBinary(["pair", "--json"], { home: home.path })).stdout) as Record<string, string>;
  expect(json).toMatchObject({ link: `${daemon.url}/#pair=${json["code"]}`, remote_link: null });
  const program = await runBinary(["pair", "--scope", "webhook"], { home: home.path });
  expect(program.stdout).not.toContain("#pair=");
  const logs = readdirSync(join(home.path, "logs")).map((name) => readFileSync(join(home.path, "logs", name), "utf8"));
  for (const secret of [code, made]) expect(logs.join()).not.toContain(secret);
});

test("the page is in the binary, and may be asked for its files only", async () => {
  const page = await daemon.request("/");
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  const html = await page.text();
  const files = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path!);
  expect(files.length).toBeGreaterThan(0);
  for (const path of files) {
    const file = await daemon.request(path);
    expect([path, file.status, file.headers.get("x-content-type-options")]).toEqual([path, 200, "nosniff"]);
  }
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|style=|https?:\/\//);
  for (const path of ["/assets/", "/index.html", "/assets/..%2f..%2fetc/passwd"]) {
    expect((await daemon.request(path)).status).toBe(404);
  }
});

test("signed in by the code of the first start, over a kill, until its device is revoked at the terminal", async () => {
  const page = await signIn(daemon, await codeOf(daemon));
  const printed = daemon.output();
  await daemon.kill9();
  await startAgain();
  expect(await statusOf(daemon, page)).toBe(200);
  const schema = await daemon.request("/api/config/schema", { headers: page.headers });
  expect(await schema.json()).toEqual(JSON.parse((await runBinary(["config", "schema"], { home: home.path })).stdout));
  await revokeAll(home.path);
  expect([await statusOf(daemon, page), signIns(home.path)]).toEqual([401, 0]);
  const logs = readdirSync(join(home.path, "logs")).map((name) => readFileSync(join(home.path, "logs", name), "utf8"));
  for (const secret of page.secrets) expect(printed + daemon.output() + logs.join()).not.toContain(secret);
});

test("a device that is revoked while no daemon runs takes its page with it; a sign-out holds over a kill", async () => {
  const [page, left] = [await signIn(daemon, await newCode()), await signIn(daemon, await newCode())];
  expect((await daemon.request("/api/session", { method: "DELETE", headers: left.headers })).status).toBe(204);
  await daemon.kill9();
  await startAgain();
  expect([await statusOf(daemon, page), await statusOf(daemon, left)]).toEqual([200, 401]);
  await daemon.stop();
  await revokeAll(home.path);
  expect(signIns(home.path)).toBe(0);
  await startAgain();
  expect(await statusOf(daemon, page)).toBe(401);
});

test("a cookie that is all a browser has left signs it in again, after a kill too; not for others, not after its end", async () => {
  const page = await signIn(daemon, await newCode());
  const lost = await signIn(daemon, await newCode());
  const cookieOf = ({ headers }: Page) => headers["cookie"]!;
  // Not `request`: it would say by itself where it comes from.
  const resumed = async (cookie: string, from: Readonly<Record<string, string>>) =>
    await fetchAs(new URL("/api/session", daemon.url), { cookie, ...from });
  const own = { "sec-fetch-site": "same-origin" };
  await daemon.kill9();
  const port = new URL(daemon.url).port;
  await startAgain({ SVC__GATEWAY__PORT: port });
  const answer = await resumed(cookieOf(page), own);
  expect([answer.status, answer.body]).toMatchObject([200, { csrf: page.headers["x-svc-csrf"] }]);
  expect(answer.cookie).toContain(`${cookieOf(page)}; HttpOnly; SameSite=Strict; Path=/; Max-Age=7776000`);
  for (const from of [
    {},
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { ...own, origin: "https://evil.example" },
    { ...own, host: "rebound.example" },
  ]) {
    expect([401, 403]).toContain((await resumed(cookieOf(page), from)).status);
  }
  // A person at the page ends the other browser alone.
  const list = await daemon.request("/api/devices", { headers: page.headers });
  const { devices } = (await list.json()) as {
    devices: { id: string; current: boolean; sessions: { id: string }[] }[];
  };
  const other = devices.find(({ current, sessions }) => !current && sessions.length > 0)!;
  const path = `/api/devices/${other.id}/sessions/${other.sessions[0]!.id}`;
  expect((await daemon.request(path, { method: "DELETE", headers: page.headers })).status).toBe(200);
  expect((await resumed(cookieOf(lost), own)).status).toBe(401);
  // What a backup brings back is not who was signed in then.
  const copy = join(home.path, "copy.tar.gz");
  expect((await runBinary(["backup", copy], { home: home.path })).code).toBe(0);
  expect((await runBinary(["restore", copy, "--yes"], { home: home.path })).code).toBe(0);
  await expect.poll(async () => (await resumed(cookieOf(page), own).catch(() => undefined))?.status).toBe(401);
});

interface Resumed {
  readonly status: number | undefined;
  readonly cookie: string;
  readonly body: unknown;
}

/** With these headers and no others. */
const fetchAs = (url: URL, headers: Readonly<Record<string, string>>): Promise<Resumed> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { headers, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      answer.on("end", () => {
        resolve({ status: answer.statusCode, cookie: String(answer.headers["set-cookie"]), body: JSON.parse(text) });
      });
    });
    asked.on("error", reject).end();
  });

const newCode = async (): Promise<string> =>
  /\b(\d{6})\b/.exec((await runBinary(["pair"], { home: home.path })).stdout)![1]!;
