// A message of a broker starts its procedure once, though the daemon is killed and the broker restarts around it; and an operator sees
// why nothing comes when the broker is away.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { missingMosquitto, type Mosquitto, startMosquitto } from "@svc/testkit/real/mosquitto";
import { requireReal } from "@svc/testkit/require-real";
import { beforeEach, expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { homeWith, localModel } from "./daemon.ts";
import { writeProcedure } from "./governed-fixture.ts";

const missing = missingMosquitto();
beforeEach((context) => {
  if (missing) requireReal(context, missing);
});

const ROUNDS = 4;
const AT_ONCE = 12;

interface Fixture extends AsyncDisposable {
  readonly broker: Mosquitto;
  readonly home: string;
  daemon: RunningBinary;
  readonly token: string;
  begin(): Promise<void>;
  /** Payloads that started a run, sorted. */
  started(): Promise<string[]>;
  svc(...args: readonly string[]): Promise<string>;
}

async function startFixture(): Promise<Fixture> {
  const broker = await startMosquitto({ user: ["svc", "right"] });
  const model = await fakeModelServer({ script: () => ({ text: "It is done." }) });
  const home = homeWith(`${localModel(model)}
api_key = "k"

[sop]
max_concurrent_total = 1000

[mqtt]
url = "mqtt://127.0.0.1:${broker.port}"
topics = ["home/#"]
username = "svc"
password = "right"
`);
  mkdirSync(join(home.path, "workspace"), { recursive: true });
  writeProcedure(home.path, "door", {
    toml: `[sop]
description = "Looks after the door."
max_concurrent = 1000
execution_mode = "auto"

[[triggers]]
type = "mqtt"
topic = "home/+/door"
condition = "$.open == true"
`,
  });
  const begin = (): Promise<RunningBinary> => startBinary({ home: home.path, binary: fullestBinaryPath() });
  const daemon = await begin();
  const token = await daemon.pair();
  const fixture: Fixture = {
    broker,
    home: home.path,
    daemon,
    token,
    async begin() {
      fixture.daemon = await begin();
    },
    async started() {
      const { runs } = await get<{ runs: { id: string }[] }>(fixture, "/api/sop-runs?limit=200");
      const details = await Promise.all(runs.map(({ id }) => get<{ payload: string }>(fixture, `/api/sop-runs/${id}`)));
      return details.map(({ payload }) => (JSON.parse(payload) as { name: string }).name).toSorted();
    },
    async svc(...args) {
      const { stdout, stderr } = await runBinary(args, { home: home.path, binary: fullestBinaryPath() });
      return stdout + stderr;
    },
    async [Symbol.asyncDispose]() {
      await fixture.daemon.close();
      await broker[Symbol.asyncDispose]();
      await model.close();
      home.remove();
    },
  };
  return fixture;
}

const get = async <T>({ daemon, token }: Fixture, path: string): Promise<T> =>
  (await (await daemon.request(path, { token })).json()) as T;

interface Status {
  readonly features: readonly { readonly id: string; readonly state: string; readonly reason: string | null }[];
}

const stateOf = async (fixture: Fixture): Promise<Status["features"][number]> =>
  (await get<Status>(fixture, "/api/status")).features.find(({ id }) => id === "trigger-mqtt")!;

const connected = (fixture: Fixture): Promise<unknown> =>
  eventually(
    () => fixture.daemon.output(),
    (output) => output.includes("connected to the MQTT broker"),
  );

const message = (name: string, open = true): string => JSON.stringify({ name, open });

test("each message starts its procedure once, over kills of the daemon and restarts of the broker", async () => {
  await using fixture = await startFixture();
  await connected(fixture);
  const { broker } = fixture;
  const names: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const batch = Array.from({ length: AT_ONCE }, (_one, index) => `${round}-${index}`);
    names.push(...batch);
    const published = (async () => {
      for (const name of batch) await broker.publish("home/hall/door", message(name));
      await broker.publish("home/hall/door", message("shut", false));
      await broker.publish("home/hall/window", message("other"));
    })();
    await new Promise((resolve) => setTimeout(resolve, 20 + 25 * round));
    await fixture.daemon.kill9();
    await published;
    await broker.stop();
    await broker.start();
    await fixture.begin();
  }
  const all = names.toSorted();
  await eventually(
    () => fixture.started(),
    (started) => started.length >= all.length,
  );
  // What was acknowledged before is not sent again, and what is sent again is known.
  await fixture.daemon.kill9();
  await broker.stop();
  await broker.start();
  await fixture.begin();
  await connected(fixture);
  await broker.publish("home/hall/door", message("last"));
  await eventually(
    () => fixture.started(),
    (started) => started.includes("last"),
  );
  expect(await fixture.started()).toEqual([...all, "last"]);
});

test("a broker that is away is told of by status and doctor, and what it took meanwhile comes when it is back", async () => {
  await using fixture = await startFixture();
  await connected(fixture);
  expect(await stateOf(fixture)).toMatchObject({ state: "running", reason: null });
  await fixture.broker.stop();
  const isWaiting = ({ state }: { readonly state: string }): boolean => state === "waiting";
  expect(await eventually(() => stateOf(fixture), isWaiting)).toMatchObject({
    reason: expect.stringMatching(/The broker/),
  });
  expect(await fixture.svc("status")).toMatch(/trigger-mqtt: waiting \(The broker/);
  expect(await fixture.svc("doctor")).toMatch(/trigger-mqtt waits and tries again: The broker/);
  await fixture.broker.start();
  await fixture.broker.publish("home/hall/door", message("late"));
  await eventually(
    () => fixture.started(),
    (started) => started.length > 0,
  );
  expect(await fixture.started()).toEqual(["late"]);
  const told = `${fixture.daemon.output()}${await fixture.svc("logs", "--limit", "1000")}`;
  expect(told).not.toContain("right");
});
