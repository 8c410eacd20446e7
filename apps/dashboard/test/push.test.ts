// Push messages in a real browser: the worker shows them while no page is open, and the switch shows the real state.
// The browser's push service is on the internet; only the subscription itself is made by the test.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "playwright-core";
import { makeBrowserKeys, subscriptionOf } from "@svc/testkit/web-push";
import { expect, test } from "vitest";
import { type Person, signedIn } from "./fixture/person.ts";
import { sharedScene } from "./fixture/scene.ts";

/** Nothing listens there: what is sent fails, and nothing leaves this machine. */
const NOWHERE = "127.0.0.1:9";
const scene = sharedScene((home) =>
  appendFileSync(join(home, "config.toml"), `\n[security.net]\nallow_private = ["${NOWHERE}"]\n`),
);

/** As the browser would after asking its push service. */
const SUBSCRIBE = `{
  const made = ${JSON.stringify(subscriptionOf(makeBrowserKeys(), `https://${NOWHERE}/send/1`))};
  let own = null;
  const subscription = { endpoint: made.endpoint, toJSON: () => made, unsubscribe: async () => ((own = null), true) };
  PushManager.prototype.subscribe = async (options) => {
    if (!options.userVisibleOnly || typeof options.applicationServerKey !== "string") throw new TypeError("options");
    return (own = subscription);
  };
  PushManager.prototype.getSubscription = async () => own;
}`;

async function subscriber(): Promise<Person> {
  const { browser, fixture } = scene();
  const person = await signedIn(browser, fixture, { permissions: ["notifications"] });
  person.context.setDefaultTimeout(15_000);
  await person.page.addInitScript({ content: SUBSCRIBE });
  await person.page.reload();
  await person.go("devices", "Devices");
  return person;
}

/** Of the worker, which is there without any page. */
async function worker({ context }: Person): Promise<Worker> {
  return context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
}

const shown = async (person: Person): Promise<{ body: string; tag: string }[]> =>
  (await worker(person)).evaluate(async () => {
    const { registration } = globalThis as unknown as { readonly registration: ServiceWorkerRegistration };
    return (await registration.getNotifications()).map(({ body, tag }) => ({ body, tag }));
  });

/** Hands over what a push service would bring. */
async function pushService({ context, page }: Person): Promise<(data: string) => Promise<unknown>> {
  const session = await context.newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const registration = registrations.find(({ isDeleted }) => !isDeleted);
      if (registration) resolve(registration.registrationId);
    });
  });
  await session.send("ServiceWorker.enable");
  const registrationId = await registered;
  const { origin } = new URL(page.url());
  return (data) => session.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data });
}

test("the switch turns push on, survives a reload, and shows why a test message did not arrive", async () => {
  await using person = await subscriber();
  const { page } = person;
  await page.getByRole("button", { name: "Send push messages to this browser" }).click();
  const details = page.getByLabel("Show the request, also on a locked screen");
  await details.waitFor();
  expect(await details.isChecked()).toBe(false);
  await details.click();
  await expect.poll(() => details.isChecked()).toBe(true);
  await page.reload();
  await details.waitFor();
  expect(await details.isChecked()).toBe(true);
  await page.getByRole("button", { name: "Send a test message" }).click();
  await page.getByRole("alert").getByText("PUSH_FAILED").waitFor();
  await page.getByRole("button", { name: "Turn push messages off" }).click();
  await page.getByRole("button", { name: "Send push messages to this browser" }).waitFor();
});

test("a message shows no details unless it contains them, and never twice", async () => {
  await using person = await subscriber();
  const { page } = person;
  await page.getByRole("button", { name: "Send push messages to this browser" }).click();
  await page.getByRole("button", { name: "Turn push messages off" }).waitFor();
  const deliver = await pushService(person);
  await deliver('{"tag":"r seen"}');
  // From here on no page of the service is looked at.
  await page.goto("about:blank");
  for (const data of ["{}", "no JSON", '{"tag":"r go"}', '{"tag":"r go","details":"Deploy <b>7</b>?"}'])
    await deliver(data);
  await expect
    .poll(async () => (await shown(person)).toSorted((a, b) => a.tag.localeCompare(b.tag)))
    .toEqual([
      { body: "An approval is waiting.", tag: "approval" },
      { body: "Deploy <b>7</b>?", tag: "r go" },
    ]);
});
