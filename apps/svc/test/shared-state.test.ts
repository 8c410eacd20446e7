// Two clients of one tool: a credential, a quota or a counter of the one that the other sees or uses up. Its credential is rotated
// while it is in use: what was found out and opened with the old one must not outlive it, and a wrong one must not take it down.
// In one file, since the binary takes a while to compose.
import { Agent, request } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "./daemon.ts";
import { callOf, type Found, parcelsBinary, type ParcelsFixture, said, startParcels } from "./parcels-fixture.ts";

let binary: Awaited<ReturnType<typeof parcelsBinary>>;
beforeAll(async () => {
  binary = await parcelsBinary();
});
afterAll(() => binary?.remove());

const numbers = (found: readonly Found[]): (number | undefined)[] => found.map(({ calls }) => calls).toSorted();

const askedOf = ({ carrier }: ParcelsFixture, what: string) =>
  carrier.asked.filter((asked) => asked.what.startsWith(what));
/** For parcels whose number begins so. */
const askedFor = (fixture: ParcelsFixture, number: string) => askedOf(fixture, `GET /parcels/${number}`);
/** Keys that registration asked with. */
const validations = (fixture: ParcelsFixture): string[] => askedOf(fixture, "GET /account").map(({ token }) => token);

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("clients", () => {
  test("two devices at the same time: each has its own quota, credential, secret and part of what all see", async () => {
    await using fixture = await startParcels(binary.path);
    const [a, b] = [await fixture.daemon.pair(), await fixture.pair("other")] as const;
    await fixture.call(a, "parcel_door_code", { code: "1111" });
    await fixture.call(b, "parcel_door_code", { code: "2222" });
    const gate = Promise.withResolvers<void>();
    fixture.carrier.held = gate.promise;
    const ask = (token: string, letter: string) => [1, 2, 3, 4].map((n) => fixture.where(token, `${letter}-${n}`));
    const [ofA, ofB] = [ask(a, "A"), ask(b, "B")];
    // All of them are inside the tool at once.
    await until(() => askedFor(fixture, "").length === 8);
    gate.resolve();
    expect([numbers(await Promise.all(ofA)), numbers(await Promise.all(ofB))]).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ]);

    const sessions = ["A", "B"].map((letter) => new Set(askedFor(fixture, letter).map(({ token }) => token)));
    expect(sessions.map(({ size }) => size)).toEqual([1, 1]);
    expect(sessions[0]!.intersection(sessions[1]!).size).toBe(0);
    expect(fixture.carrier.asked.filter(({ what }) => what === "POST /sessions")).toHaveLength(2);
    const codes = ["A", "B"].map((letter) => new Set(askedFor(fixture, letter).map(({ code }) => code)));
    expect(codes).toEqual([new Set(["1111"]), new Set(["2222"])]);

    const last = await fixture.where(a, "A-5");
    expect(last).toMatchObject({ calls: 5, ofAll: 9 });
    expect(last.own?.toSorted()).toEqual(["A-1", "A-2", "A-3", "A-4", "A-5"]);
    expect((await fixture.where(a, "A-6")).error).toContain("RATE_LIMITED");
    expect(await fixture.where(b, "B-5")).toMatchObject({ calls: 5, own: expect.not.arrayContaining(["A-1"]) });
  });

  test("the same parcel of two clients is two entries in what all see", async () => {
    await using fixture = await startParcels(binary.path);
    const [a, b] = [await fixture.daemon.pair(), await fixture.pair("other")] as const;
    await fixture.where(a, "SAME");
    expect(await fixture.where(b, "SAME")).toMatchObject({ own: ["SAME"], ofAll: 2 });
  });

  test("callers without a token are one client for each connection", async () => {
    await using fixture = await startParcels(binary.path, { isPaired: false });
    const connection = () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const where = (parcel: string): Promise<Found> =>
        new Promise((resolve, reject) => {
          const headers = { "content-type": "application/json" };
          const sent = request(`${fixture.daemon.url}/webhook`, { method: "POST", agent, headers }, (response) => {
            let text = "";
            response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
            response.on("end", () => resolve(said(JSON.parse(text) as Answer)));
          });
          sent.on("error", reject).end(JSON.stringify({ message: callOf("parcel_where", { parcel }) }));
        });
      return { where, [Symbol.dispose]: () => agent.destroy() };
    };
    using one = connection();
    using two = connection();
    expect([(await one.where("A-1")).calls, (await one.where("A-2")).calls]).toEqual([1, 2]);
    expect((await two.where("B-1")).calls).toBe(1);
    expect((await one.where("A-3")).own).toEqual(["A-1", "A-2", "A-3"]);
  });

  test("a device that is revoked takes its secrets with it; the one that is paired in its place has nothing of it", async () => {
    await using fixture = await startParcels(binary.path);
    const [a, b] = [await fixture.daemon.pair(), await fixture.pair("phone")] as const;
    for (const [token, code] of [
      [a, "1111"],
      [b, "2222"],
    ] as const)
      await fixture.call(token, "parcel_door_code", { code });
    expect(await fixture.where(b, "B-1")).toMatchObject({ calls: 1 });
    const kept = (): number => {
      using database = new DatabaseSync(join(fixture.home, "state/svc.db"), { readOnly: true });
      const row = database.prepare("SELECT count(*) AS n FROM vault WHERE owner LIKE 'tool-parcels/%'").get();
      return Number(row?.["n"]);
    };
    expect(kept()).toBe(2);
    const { stdout } = await fixture.svc("devices", "list", "--json");
    const { devices } = JSON.parse(stdout) as { devices: { id: string; name: string }[] };
    const { id } = devices.find(({ name }) => name === "phone")!;
    expect((await fixture.svc("devices", "revoke", id, "--yes")).code).toBe(0);
    expect(kept()).toBe(1);
    const c = await fixture.pair("phone");
    expect(await fixture.where(c, "C-1")).toMatchObject({ calls: 1, own: ["C-1"] });
    expect(askedFor(fixture, "C")[0]?.code).toBeUndefined();
    expect(await fixture.where(a, "A-1")).toMatchObject({ calls: 1 });
    expect(askedFor(fixture, "A")[0]?.code).toBe("1111");
  });

  test("a restart begins with new state, and what was kept is still there", async () => {
    await using fixture = await startParcels(binary.path);
    const a = await fixture.daemon.pair();
    await fixture.call(a, "parcel_door_code", { code: "1111" });
    await fixture.where(a, "A-1");
    expect((await fixture.svc("restart")).code).toBe(0);
    const [, url = ""] = (await fixture.daemon.waitFor(
      /listening on [^]*listening on (http:\S+)/,
    )) as unknown as string[];
    const response = await fetch(`${url}/webhook`, {
      method: "POST",
      headers: { authorization: `Bearer ${a}`, "content-type": "application/json" },
      body: JSON.stringify({ message: callOf("parcel_where", { parcel: "A-2" }) }),
    });
    expect(said((await response.json()) as Answer)).toMatchObject({ calls: 1, own: ["A-2"], ofAll: 1 });
    expect(askedFor(fixture, "A").map(({ code }) => code)).toEqual(["1111", "1111"]);
  });
});

describe("rotation", () => {
  test("a call under way ends with the old key; the next has the new one, a new session and new counters", async () => {
    await using fixture = await startParcels(binary.path);
    const [a, instance] = [await fixture.daemon.pair(), await fixture.instance()];
    await fixture.call(a, "parcel_door_code", { code: "1111" });
    expect(await fixture.where(a, "A-1")).toMatchObject({ calls: 1, account: "account 1" });
    fixture.carrier.keys.add("second-key");
    const gate = Promise.withResolvers<void>();
    fixture.carrier.held = gate.promise;
    const underWay = fixture.where(a, "A-2");
    await until(() => askedOf(fixture, "GET /parcels/A-2").length === 1);

    expect(await fixture.setSecret("parcels.api_key", "second-key")).toMatchObject({ code: 0 });
    expect(validations(fixture)).toEqual(["first-key", "second-key"]);
    const next = fixture.where(a, "A-3");
    await until(() => askedOf(fixture, "GET /parcels/A-3").length === 1);
    gate.resolve();
    expect(await underWay).toMatchObject({
      place: "place of A-2",
      calls: 2,
      account: "account 1",
      own: ["A-1", "A-2"],
    });
    expect(await next).toMatchObject({ place: "place of A-3", calls: 1, account: "account 2", own: ["A-3"] });
    expect(askedOf(fixture, "POST /sessions").map(({ token }) => token)).toEqual(["first-key", "second-key"]);
    expect(askedOf(fixture, "GET /parcels/").map(({ token }) => token)).toEqual([
      "session-1",
      "session-1",
      "session-2",
    ]);

    // Whatever the old key had opened is used by nobody any more; what the client entrusted to the tool is.
    fixture.carrier.keys.delete("first-key");
    expect(await fixture.where(a, "A-4")).toMatchObject({ calls: 2 });
    expect(askedOf(fixture, "GET /parcels/A-4")).toMatchObject([{ token: "session-2", code: "1111" }]);
    expect(await fixture.instance()).toBe(instance);
  });

  test("nothing else is registered anew, and it is not when something else changes", async () => {
    await using fixture = await startParcels(binary.path);
    const a = await fixture.daemon.pair();
    await fixture.where(a, "A-1");
    fixture.config(
      "first-key",
      '[agent]\nmax_steps = 7\n[channels_config.webhook]\nsecret = "a-secret-of-the-webhook"\n',
    );
    expect(await fixture.reload()).toMatchObject({ changed: ["agent", "channels_config.webhook"], features: [] });
    fixture.config("first-key", "# only a comment\n[agent]\nmax_steps = 7\n");
    expect(await fixture.reload()).toMatchObject({ changed: ["channels_config.webhook"], features: [] });
    expect(await fixture.where(a, "A-2")).toMatchObject({ calls: 2, own: ["A-1", "A-2"] });
    expect(validations(fixture)).toEqual(["first-key"]);
    fixture.carrier.keys.add("second-key");
    fixture.config("second-key", "[agent]\nmax_steps = 8\n");
    expect(await fixture.reload()).toMatchObject({ changed: ["agent", "parcels"], features: ["tool-parcels"] });
    expect(validations(fixture)).toEqual(["first-key", "second-key"]);
  });

  test("a key that the carrier refuses: the reload is refused, and everything goes on with the old one", async () => {
    await using fixture = await startParcels(binary.path);
    const [a, instance] = [await fixture.daemon.pair(), await fixture.instance()];
    await fixture.where(a, "A-1");
    const set = await fixture.setSecret("parcels.api_key", "wrong-key");
    expect(`${set.stdout}${set.stderr}`).toContain("tool-parcels: The carrier refuses the key.");
    expect(`${set.stdout}${set.stderr}${fixture.daemon.output()}`).not.toContain("wrong-key");
    const refused = await fixture.svc("reload");
    expect([refused.code === 0, refused.stderr]).toEqual([
      false,
      expect.stringContaining("The old config stays in force"),
    ]);
    expect(await fixture.where(a, "A-2")).toMatchObject({ calls: 2, account: "account 1" });
    expect(askedOf(fixture, "GET /parcels/").map(({ token }) => token)).toEqual(["session-1", "session-1"]);
    const health = (await (await fixture.daemon.request("/health")).json()) as object;
    expect(health).toEqual({ status: "ok", instance });
    fixture.carrier.keys.add("wrong-key");
    expect(await fixture.reload()).toMatchObject({ features: ["tool-parcels"] });
    expect(await fixture.where(a, "A-3")).toMatchObject({ calls: 1 });
  });

  test("switched off and on again: the tool is gone, and comes back as it was; its feature off and on begins anew", async () => {
    await using fixture = await startParcels(binary.path);
    const a = await fixture.daemon.pair();
    await fixture.where(a, "A-1");
    const offered = async (): Promise<string[]> => {
      const { stdout } = await fixture.svc("tools", "list", "--json");
      const { tools } = JSON.parse(stdout) as { tools: { name: string; enabled?: boolean; state?: string }[] };
      return tools.filter(({ name }) => name.startsWith("parcel_")).map((tool) => JSON.stringify(tool));
    };
    const before = await offered();
    expect(before).toHaveLength(2);
    fixture.config("first-key", '[tools]\ndisabled = ["parcel_where"]\n');
    expect(await fixture.reload()).toMatchObject({ changed: ["tools"], features: [] });
    expect((await fixture.where(a, "A-2")).error).toContain("switched off");
    expect(await offered()).not.toEqual(before);
    fixture.config("first-key");
    await fixture.reload();
    expect(await fixture.where(a, "A-3")).toMatchObject({ calls: 2 });
    fixture.config("first-key", "", "");
    expect(await fixture.reload()).toMatchObject({ changed: ["parcels"] });
    expect(await offered()).toEqual([]);
    expect((await fixture.where(a, "A-4")).error).toContain("parcel_where");
    fixture.config("first-key");
    expect(await fixture.reload()).toMatchObject({ features: ["tool-parcels"] });
    expect(await fixture.where(a, "A-5")).toMatchObject({ calls: 1, ofAll: 1 });
  });
});
