// channelConformance must fail for a channel that breaks a rule: one deliberately broken fake per rule.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { channelChecks, failures, temporaryHome, type TemporaryHome } from "../src/index.ts";
import { fakeChannel } from "./channel-fakes/definition.ts";
import { fakeSubject } from "./channel-fakes/subject.ts";
import { writePackage } from "./feature-package.ts";

let home: TemporaryHome;
let root = "";
beforeAll(() => {
  home = temporaryHome();
  root = writePackage(home.path, { id: "channel-chat", manifest: { ingress: ["/fake-chat"] } });
});
afterAll(() => home.remove());

describe("channelConformance", () => {
  test("a sound channel breaks no rule", async () => {
    const failed = await failures(channelChecks(fakeChannel(), fakeSubject(root)));
    expect(failed).toEqual([]);
  });
});
