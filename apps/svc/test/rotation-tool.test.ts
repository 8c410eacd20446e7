// A tool's credential is rotated while it is in use: what was found out and opened with the old one must not outlive it, and a wrong
// new one must not take the tool down.
import { afterAll, beforeAll, expect, test } from "vitest";
import { parcelsBinary, type ParcelsHouse, startParcels } from "./parcels-house.ts";

let binary: Awaited<ReturnType<typeof parcelsBinary>>;
beforeAll(async () => {
  binary = await parcelsBinary();
});
afterAll(() => binary?.remove());

const askedFor = ({ carrier }: ParcelsHouse, what: string) =>
  carrier.asked.filter((asked) => asked.what.startsWith(what));
const validations = (house: ParcelsHouse): string[] => askedFor(house, "GET /account").map(({ token }) => token);

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

test("a call under way ends with the old key; the next has the new one, a new session and new counters", async () => {
  await using house = await startParcels(binary.path);
  const [a, instance] = [await house.daemon.pair(), await house.instance()];
  await house.call(a, "parcel_door_code", { code: "1111" });
  expect(await house.where(a, "A-1")).toMatchObject({ calls: 1, account: "account 1" });
  house.carrier.keys.add("second-key");
  const gate = Promise.withResolvers<void>();
  house.carrier.held = gate.promise;
  const underWay = house.where(a, "A-2");
  await until(() => askedFor(house, "GET /parcels/A-2").length === 1);

  expect(await house.setSecret("parcels.api_key", "second-key")).toMatchObject({ code: 0 });
  expect(validations(house)).toEqual(["first-key", "second-key"]);
  const next = house.where(a, "A-3");
  await until(() => askedFor(house, "GET /parcels/A-3").length === 1);
  gate.resolve();
  expect(await underWay).toMatchObject({ place: "place of A-2", calls: 2, account: "account 1", own: ["A-1", "A-2"] });
  expect(await next).toMatchObject({ place: "place of A-3", calls: 1, account: "account 2", own: ["A-3"] });
  expect(askedFor(house, "POST /sessions").map(({ token }) => token)).toEqual(["first-key", "second-key"]);
  expect(askedFor(house, "GET /parcels/").map(({ token }) => token)).toEqual(["session-1", "session-1", "session-2"]);

  // Whatever the old key had opened is used by nobody any more; what the client entrusted to the tool is.
  house.carrier.keys.delete("first-key");
  expect(await house.where(a, "A-4")).toMatchObject({ calls: 2 });
  expect(askedFor(house, "GET /parcels/A-4")).toMatchObject([{ token: "session-2", code: "1111" }]);
  expect(await house.instance()).toBe(instance);
});

test("nothing else is registered anew, and it is not when something else changes", async () => {
  await using house = await startParcels(binary.path);
  const a = await house.daemon.pair();
  await house.where(a, "A-1");
  house.config("first-key", '[agent]\nmax_steps = 7\n[channels_config.webhook]\nsecret = "a-secret-of-the-webhook"\n');
  expect(await house.reload()).toMatchObject({ changed: ["agent", "channels_config.webhook"], features: [] });
  house.config("first-key", "# only a comment\n[agent]\nmax_steps = 7\n");
  expect(await house.reload()).toMatchObject({ changed: ["channels_config.webhook"], features: [] });
  expect(await house.where(a, "A-2")).toMatchObject({ calls: 2, own: ["A-1", "A-2"] });
  expect(validations(house)).toEqual(["first-key"]);
  house.carrier.keys.add("second-key");
  house.config("second-key", "[agent]\nmax_steps = 8\n");
  expect(await house.reload()).toMatchObject({ changed: ["agent", "parcels"], features: ["tool-parcels"] });
  expect(validations(house)).toEqual(["first-key", "second-key"]);
});

test("a key that the carrier refuses: the reload is refused, and everything goes on with the old one", async () => {
  await using house = await startParcels(binary.path);
  const [a, instance] = [await house.daemon.pair(), await house.instance()];
  await house.where(a, "A-1");
  const set = await house.setSecret("parcels.api_key", "wrong-key");
  expect(`${set.stdout}${set.stderr}`).toContain("tool-parcels: The carrier refuses the key.");
  expect(`${set.stdout}${set.stderr}${house.daemon.output()}`).not.toContain("wrong-key");
  const refused = await house.svc("reload");
  expect([refused.code === 0, refused.stderr]).toEqual([
    false,
    expect.stringContaining("The old config stays in force"),
  ]);
  expect(await house.where(a, "A-2")).toMatchObject({ calls: 2, account: "account 1" });
  expect(askedFor(house, "GET /parcels/").map(({ token }) => token)).toEqual(["session-1", "session-1"]);
  const health = (await (await house.daemon.request("/health")).json()) as object;
  expect(health).toEqual({ status: "ok", instance });
  house.carrier.keys.add("wrong-key");
  expect(await house.reload()).toMatchObject({ features: ["tool-parcels"] });
  expect(await house.where(a, "A-3")).toMatchObject({ calls: 1 });
});

test("switched off and on again: the tool is gone, and comes back as it was; its feature off and on begins anew", async () => {
  await using house = await startParcels(binary.path);
  const a = await house.daemon.pair();
  await house.where(a, "A-1");
  const offered = async (): Promise<string[]> => {
    const { stdout } = await house.svc("tools", "list", "--json");
    const { tools } = JSON.parse(stdout) as { tools: { name: string; enabled?: boolean; state?: string }[] };
    return tools.filter(({ name }) => name.startsWith("parcel_")).map((tool) => JSON.stringify(tool));
  };
  const before = await offered();
  expect(before).toHaveLength(2);
  house.config("first-key", '[tools]\ndisabled = ["parcel_where"]\n');
  expect(await house.reload()).toMatchObject({ changed: ["tools"], features: [] });
  expect((await house.where(a, "A-2")).error).toContain("switched off");
  expect(await offered()).not.toEqual(before);
  house.config("first-key");
  await house.reload();
  expect(await house.where(a, "A-3")).toMatchObject({ calls: 2 });
  house.config("first-key", "", "");
  expect(await house.reload()).toMatchObject({ changed: ["parcels"] });
  expect(await offered()).toEqual([]);
  expect((await house.where(a, "A-4")).error).toContain("parcel_where");
  house.config("first-key");
  expect(await house.reload()).toMatchObject({ features: ["tool-parcels"] });
  expect(await house.where(a, "A-5")).toMatchObject({ calls: 1, ofAll: 1 });
});
