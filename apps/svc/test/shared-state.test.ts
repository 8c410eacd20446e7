// Two clients, one tool: a credential, a quota or a counter of the one that the other sees or uses up.
import { Agent, request } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer } from "./daemon.ts";
import { callOf, type Found, parcelsBinary, type ParcelsHouse, said, startParcels } from "./parcels-house.ts";

let binary: Awaited<ReturnType<typeof parcelsBinary>>;
beforeAll(async () => {
  binary = await parcelsBinary();
});
afterAll(() => binary?.remove());

const numbers = (found: readonly Found[]): (number | undefined)[] => found.map(({ calls }) => calls).toSorted();

/** What the carrier was asked for parcels whose number begins so. */
const askedFor = ({ carrier }: ParcelsHouse, letter: string) =>
  carrier.asked.filter(({ what }) => what.startsWith(`GET /parcels/${letter}`));

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

test("two devices at the same time: each has its own quota, credential, secret and part of what all see", async () => {
  await using house = await startParcels(binary.path);
  const [a, b] = [await house.daemon.pair(), await house.pair("other")] as const;
  await house.call(a, "parcel_door_code", { code: "1111" });
  await house.call(b, "parcel_door_code", { code: "2222" });
  const gate = Promise.withResolvers<void>();
  house.carrier.held = gate.promise;
  const ask = (token: string, letter: string) => [1, 2, 3, 4].map((n) => house.where(token, `${letter}-${n}`));
  const [ofA, ofB] = [ask(a, "A"), ask(b, "B")];
  // All of them are inside the tool at once.
  await until(() => askedFor(house, "").length === 8);
  gate.resolve();
  expect([numbers(await Promise.all(ofA)), numbers(await Promise.all(ofB))]).toEqual([
    [1, 2, 3, 4],
    [1, 2, 3, 4],
  ]);

  const sessions = ["A", "B"].map((letter) => new Set(askedFor(house, letter).map(({ token }) => token)));
  expect(sessions.map(({ size }) => size)).toEqual([1, 1]);
  expect(sessions[0]!.intersection(sessions[1]!).size).toBe(0);
  expect(house.carrier.asked.filter(({ what }) => what === "POST /sessions")).toHaveLength(2);
  const codes = ["A", "B"].map((letter) => new Set(askedFor(house, letter).map(({ code }) => code)));
  expect(codes).toEqual([new Set(["1111"]), new Set(["2222"])]);

  const last = await house.where(a, "A-5");
  expect(last).toMatchObject({ calls: 5, ofAll: 9 });
  expect(last.own?.toSorted()).toEqual(["A-1", "A-2", "A-3", "A-4", "A-5"]);
  expect((await house.where(a, "A-6")).error).toContain("RATE_LIMITED");
  expect(await house.where(b, "B-5")).toMatchObject({ calls: 5, own: expect.not.arrayContaining(["A-1"]) });
});

test("a client of the same name as another's key is nobody but itself: the same parcel is two entries", async () => {
  await using house = await startParcels(binary.path);
  const [a, b] = [await house.daemon.pair(), await house.pair("other")] as const;
  await house.where(a, "SAME");
  expect(await house.where(b, "SAME")).toMatchObject({ own: ["SAME"], ofAll: 2 });
});

test("callers without a token are one client for each connection", async () => {
  await using house = await startParcels(binary.path, { isPaired: false });
  const connection = () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const where = (parcel: string): Promise<Found> =>
      new Promise((resolve, reject) => {
        const headers = { "content-type": "application/json" };
        const sent = request(`${house.daemon.url}/webhook`, { method: "POST", agent, headers }, (response) => {
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
  await using house = await startParcels(binary.path);
  const [a, b] = [await house.daemon.pair(), await house.pair("phone")] as const;
  for (const [token, code] of [
    [a, "1111"],
    [b, "2222"],
  ] as const)
    await house.call(token, "parcel_door_code", { code });
  expect(await house.where(b, "B-1")).toMatchObject({ calls: 1 });
  const kept = (): number => {
    using database = new DatabaseSync(join(house.home, "state/svc.db"), { readOnly: true });
    const row = database.prepare("SELECT count(*) AS n FROM vault WHERE owner LIKE 'tool-parcels/%'").get();
    return Number(row?.["n"]);
  };
  expect(kept()).toBe(2);
  const { stdout } = await house.svc("devices", "list", "--json");
  const { devices } = JSON.parse(stdout) as { devices: { id: string; name: string }[] };
  const { id } = devices.find(({ name }) => name === "phone")!;
  expect((await house.svc("devices", "revoke", id, "--yes")).code).toBe(0);
  expect(kept()).toBe(1);
  const c = await house.pair("phone");
  expect(await house.where(c, "C-1")).toMatchObject({ calls: 1, own: ["C-1"] });
  expect(askedFor(house, "C")[0]?.code).toBeUndefined();
  expect(await house.where(a, "A-1")).toMatchObject({ calls: 1 });
  expect(askedFor(house, "A")[0]?.code).toBe("1111");
});

test("a restart begins with new state, and what was kept is still there", async () => {
  await using house = await startParcels(binary.path);
  const a = await house.daemon.pair();
  await house.call(a, "parcel_door_code", { code: "1111" });
  await house.where(a, "A-1");
  expect((await house.svc("restart")).code).toBe(0);
  const [, url = ""] = (await house.daemon.waitFor(/listening on [^]*listening on (http:\S+)/)) as unknown as string[];
  const response = await fetch(`${url}/webhook`, {
    method: "POST",
    headers: { authorization: `Bearer ${a}`, "content-type": "application/json" },
    body: JSON.stringify({ message: callOf("parcel_where", { parcel: "A-2" }) }),
  });
  expect(said((await response.json()) as Answer)).toMatchObject({ calls: 1, own: ["A-2"], ofAll: 1 });
  expect(askedFor(house, "A").map(({ code }) => code)).toEqual(["1111", "1111"]);
});
