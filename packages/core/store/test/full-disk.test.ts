// A disk that is full: reading goes on, writing says so, and it gets well by itself. On a real file system of 2 MiB.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, type TestContext, test } from "vitest";
import { requireReal } from "@svc/testkit/require-real";
import { fixture, type Fixture } from "./fixture.ts";

let home: Fixture;
beforeEach(() => (home = fixture()));
afterEach(() => home[Symbol.dispose]());

/** Runs TypeScript in a process of its own whose folder `disk` is a small file system. */
function onSmallDisk(context: TestContext, code: string): unknown {
  const disk = join(home.folder, "disk");
  mkdirSync(disk);
  const mount = 'mount -t tmpfs -o size=2m tmpfs "$0" && shift && exec "$@"';
  const program = `
    import { mkdirSync, openSync, closeSync, writeSync, rmSync, cpSync, readdirSync } from "node:fs";
    import { checkDatabase, lockHome, openStore } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url))};
    import { fakeClock } from ${JSON.stringify(import.meta.resolve("@svc/testkit/fake-clock"))};
    process.chdir(${JSON.stringify(disk)});
    const clock = fakeClock();
    const open = (file = "state/svc.db") => openStore({ file, clock, idempotency: { ttlMs: 300_000, maxKeys: 100 } });
    const turn = { id: "t", at: 0, model: "m", messages: ["x".repeat(2000)], tokens: 1, inputTokens: 1, outputTokens: 1 };
    const speak = (store, name) => store.write(() =>
      store.sessions.append({ id: name, clientId: "c", name }, store.sessions.find("c", name), turn));
    const codeOf = (promise) => promise.then(() => "ok", (error) => error.code);
    const fill = () => {
      const file = openSync("ballast", "w");
      try { for (;;) writeSync(file, Buffer.alloc(4096)); } catch {} finally { closeSync(file); }
    };
    ${code}`;
  const args = ["--input-type=module-typescript", "--eval", program];
  const unshare = ["--user", "--map-root-user", "--mount", "sh", "-c", mount, disk, "-", process.execPath, ...args];
  const { stdout, stderr, status } = spawnSync("env", ["unshare", ...unshare], { encoding: "utf8" });
  if (/unshare|mount:/.test(stderr) || status === null) {
    requireReal(context, { name: "small disk", reason: "no mounts in a user namespace here", tier: "B" });
  }
  expect(stderr).toBe("");
  return JSON.parse(stdout) as unknown;
}

describe("a disk that is full", () => {
  test("at start: the home is locked and read; writes are STORE_FULL until there is room again", (context) => {
    const told = onSmallDisk(
      context,
      `let store = open();
       await speak(store, "before");
       store.close();
       lockHome("run/lock")();
       fill();
       const unlock = lockHome("run/lock");
       store = open();
       const read = store.sessions.list({}, 10).map(({ name }) => name);
       const full = [store.writable(), await codeOf(speak(store, "full")), store.writable()];
       const check = await checkDatabase("state/svc.db", { quick: true, clock }).catch((error) => error.hint);
       await clock.advance(60_000);
       const still = store.writable();
       rmSync("ballast");
       await clock.advance(60_000);
       store.writable();
       await store.write(() => {});
       const well = store.writable();
       const after = await codeOf(speak(store, "after"));
       const place = store.sessions.find("c", "after");
       const backup = await codeOf(store.backupTo("copy.db"));
       store.close();
       unlock();
       console.log(JSON.stringify({ read, full, check, still, well, after, kept: place !== undefined, backup }));`,
    );
    expect(told).toEqual({
      read: ["before"],
      full: [false, "STORE_FULL", false],
      check: "Make room on the disk, then: svc restart",
      still: false,
      well: true,
      after: "ok",
      kept: true,
      backup: "ok",
    });
  });

  test("at start after a crash: what was running is judged as soon as it can be, and nothing is claimed before", (context) => {
    const told = onSmallDisk(
      context,
      `let store = open("first/svc.db");
       for (const [key, acting] of [["acted", true], ["read", false]]) {
         store.idempotency.claim({ scope: "s", key });
         await store.write(() => {
           store.idempotency.keep({ scope: "s", key }, key, "running");
           store.toolCalls.start({ turnId: key, callId: "1", agent: "a", client: "c", tool: "x", acting, input: {} });
         });
       }
       // What a killed process leaves behind.
       mkdirSync("state");
       for (const name of ["svc.db", "svc.db-wal"]) cpSync("first/" + name, "state/" + name);
       store.close();
       fill();
       store = open();
       const claim = (key) => {
         try { return store.idempotency.claim({ scope: "s", key }); } catch (error) { return error.code; }
       };
       const full = claim("read");
       rmSync("ballast");
       console.log(JSON.stringify([full, claim("read"), claim("acted"), store.toolCalls.statesOf("acted")[0].state]));`,
    );
    expect(told).toEqual(["STORE_FULL", "new", "duplicate", "interrupted"]);
  });

  test("while it runs: what is kept stays readable, and a refused turn leaves no trace", (context) => {
    const told = onSmallDisk(
      context,
      `const store = open();
       await speak(store, "before");
       fill();
       const codes = new Set();
       for (let n = 0; n < 100; n += 1) codes.add(await codeOf(speak(store, "full" + n)));
       const refused = store.sessions.find("c", "full99") === undefined;
       rmSync("ballast");
       const after = await codeOf(speak(store, "after"));
       store.close();
       console.log(JSON.stringify({ full: codes.has("STORE_FULL"), refused, after }));`,
    );
    expect(told).toEqual({ full: true, refused: true, after: "ok" });
  });

  test("an accepted message is kept; one that was refused is new when the platform sends it again", (context) => {
    const told = onSmallDisk(
      context,
      `let store = open();
       const arrive = (n, text = "x") => store.write(() => store.inbox.arrive({ channel: "c", once: "o" + n, messages: [
         { kind: "message", conversationKey: "l", body: { text }, dedupe: { key: "id" + n, forMs: 1e6 } }] }, clock.now()));
       await arrive(0);
       fill();
       const codes = [];
       for (let n = 1; n < 100; n += 1) codes.push(await codeOf(arrive(n, "x".repeat(3000))));
       const refused = codes.indexOf("STORE_FULL") + 1;
       const waiting = store.inbox.waiting().length;
       const accepted = codes.filter((code) => code === "ok").length + 1;
       store.close();
       store = open();
       const again = store.inbox.waiting().length;
       rmSync("ballast");
       const kept = await arrive(refused);
       const replayed = await arrive(refused);
       store.close();
       console.log(JSON.stringify({ refused: refused > 0, lost: accepted - waiting, again: again - waiting,
         kept: kept.messages?.[0] !== "duplicate" && kept.state, replayed: replayed.state }));`,
    );
    expect(told).toEqual({ refused: true, lost: 0, again: 0, kept: "kept", replayed: "replayed" });
  });

  test("at start after a crash: the attempt is counted once, as soon as it can be, and before the next one begins", (context) => {
    const told = onSmallDisk(
      context,
      `let store = open("first/svc.db");
       await store.write(() => store.inbox.arrive({ channel: "c", messages: [{ kind: "message", conversationKey: "l", body: {} }] }, 1));
       await store.write(() => store.inbox.begin(1));
       // What a killed process leaves behind.
       mkdirSync("state");
       for (const name of ["svc.db", "svc.db-wal"]) cpSync("first/" + name, "state/" + name);
       store.close();
       fill();
       store = open();
       const attempts = () => store.inbox.read(1).attempts;
       const full = [store.inbox.waiting().length, attempts(), await codeOf(store.write(() => store.inbox.begin(1)))];
       rmSync("ballast");
       await store.write(() => store.inbox.begin(1));
       const begun = attempts();
       await store.write(() => store.inbox.failed(1, "TURN_FAILED"));
       console.log(JSON.stringify([...full, begun, attempts()]));`,
    );
    expect(told).toEqual([1, 0, "STORE_FULL", 1, 2]);
  });

  test("with no home yet: said in words, and nothing half-made stops the next start", (context) => {
    const told = onSmallDisk(
      context,
      `fill();
       const codes = [];
       try { open(); } catch (error) { codes.push(error.code); }
       rmSync("ballast");
       const store = open();
       codes.push(await codeOf(speak(store, "after")));
       store.close();
       console.log(JSON.stringify(codes));`,
    );
    expect(told).toEqual(["STORE_FULL", "ok"]);
  });
});
