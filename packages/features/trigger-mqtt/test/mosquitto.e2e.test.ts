// A real broker: what it keeps for a session, what it sends again, whom it lets in. The behaviour of a fake one says nothing of these.
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { missingMosquitto, type MosquittoOptions, startMosquitto } from "@svc/testkit/real/mosquitto";
import { requireReal } from "@svc/testkit/require-real";
import { selfSigned } from "@svc/testkit/self-signed";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type Loop, startLoop } from "./feature.ts";

const missing = missingMosquitto();
beforeEach((context) => {
  if (missing) requireReal(context, missing);
});

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const connected = (loop: Loop): Promise<void> =>
  until(() => loop.context.log.text().includes("connected to the MQTT broker"));
const plain = ({ port }: { port: number }): string => `mqtt://127.0.0.1:${port}`;

test("what was published while svc was down starts procedures when it is back, each message once", async () => {
  await using broker = await startMosquitto();
  const state = memorySecrets();
  {
    await using loop = startLoop({ url: plain(broker) }, { state });
    await connected(loop);
    await broker.publish("home/a", "1");
    await broker.publish("other/a", "2");
    await until(() => loop.started().length === 1);
  }
  await broker.publish("home/a", "3");
  await broker.publish("home/b", "4", { qos: 2 });
  {
    await using loop = startLoop({ url: plain(broker) }, { state });
    await until(() => loop.started().length === 2);
    expect(loop.started()).toEqual(["home/a 3", "home/b 4"]);
    await broker.publish("home/c", "5", { qos: 0 });
    await until(() => loop.started().length === 3);
  }
  await using loop = startLoop({ url: plain(broker) }, { state });
  await connected(loop);
  await broker.publish("home/a", "6");
  await until(() => loop.started().length > 0);
  expect(loop.started()).toEqual(["home/a 6"]);
});

test("a message that was not acknowledged comes again after a restart of the broker, and one that was does not", async () => {
  await using broker = await startMosquitto();
  const state = memorySecrets();
  const never = Promise.withResolvers<never>();
  {
    let asked = 0;
    const first = startLoop({ url: plain(broker) }, { state, trigger: () => ((asked += 1), never.promise) });
    await connected(first);
    await broker.publish("home/a", "1");
    await until(() => asked === 1);
    await broker.stop();
    never.reject(new Error("killed"));
    await first.stop();
  }
  await broker.start();
  await using loop = startLoop({ url: plain(broker) }, { state });
  await until(() => loop.started().length === 1);
  await loop.context.clock.advance(1_000);
  await broker.stop();
  expect(await loop.ended).toMatchObject({ code: "REMOTE_UNREACHABLE" });
  await broker.start();
  await using again = startLoop({ url: plain(broker) }, { state });
  await connected(again);
  await broker.publish("home/a", "2");
  await until(() => again.started().length > 0);
  expect(again.started()).toEqual(["home/a 2"]);
});

test("a retained message starts its procedure once for each value", async () => {
  await using broker = await startMosquitto();
  const state = memorySecrets();
  await broker.publish("home/mode", "away", { retain: true });
  for (const expected of [['home/mode "away"'], []]) {
    await using loop = startLoop({ url: plain(broker) }, { state });
    await connected(loop);
    await broker.publish("home/end", "0");
    await until(() => loop.started().some((text) => text.startsWith("home/end")));
    expect(loop.started().filter((text) => text.startsWith("home/mode"))).toEqual(expected);
  }
  await using loop = startLoop({ url: plain(broker) }, { state });
  await connected(loop);
  await broker.publish("home/mode", "home", { retain: true });
  await until(() => loop.started().includes('home/mode "home"'));
});

describe("a broker with users and TLS", () => {
  const signed = selfSigned("localhost");
  const options: MosquittoOptions = { user: ["svc", "right"], tls: signed };

  test("is trusted by tls_ca, and tells a wrong password from a wrong certificate", async () => {
    const home = temporaryHome();
    const ca = join(home.path, "ca.pem");
    writeFileSync(ca, signed.cert);
    await using broker = await startMosquitto(options);
    const url = `mqtts://localhost:${broker.port}`;
    {
      await using loop = startLoop({ url, tls_ca: ca, username: "svc", password: "right" });
      await connected(loop);
      await broker.publish("home/a", "1");
      await until(() => loop.started().length === 1);
    }
    const failures = [
      startLoop({ url, tls_ca: ca, username: "svc", password: "wrong" }),
      startLoop({ url, tls_ca: ca }),
      startLoop({ url, username: "svc", password: "right" }),
      startLoop({ url: `mqtts://127.0.0.1:${broker.port}`, tls_ca: ca, username: "svc", password: "right" }),
      startLoop({ url: `mqtt://127.0.0.1:${broker.port}`, username: "svc", password: "right" }),
      startLoop({ url, tls_ca: join(home.path, "none.pem") }),
    ];
    const told = await Promise.all(failures.map(async (loop) => (await loop.ended) as { code: string; hint?: string }));
    expect(told.map(({ code }) => code)).toEqual([
      "CHANNEL_UNAUTHORIZED",
      "CHANNEL_UNAUTHORIZED",
      "REMOTE_UNREACHABLE",
      "REMOTE_UNREACHABLE",
      "REMOTE_UNREACHABLE",
      "CONFIG_INVALID",
    ]);
    expect(told[2]!.hint).toContain("tls_ca");
    expect(told[3]!.hint).toContain("url to the name in it");
    for (const loop of failures) expect(loop.context.log.text()).not.toMatch(/right|wrong/);
    home.remove();
  });
});
