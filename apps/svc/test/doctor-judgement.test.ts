// What the doctor makes of what it sees, without a machine to look at: a wrong verdict is believed.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { homeOf, loadConfig } from "@svc/config";
import { temporaryHome } from "@svc/testkit/temporary-home";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Finding, findingsIn } from "../src/doctor/finding.ts";
import { clockFinding, spaceFinding } from "../src/doctor/machine/checks.ts";
import { lockedMessages } from "../src/doctor/machine/daemon.ts";
import { holdersOf } from "../src/doctor/machine/lock-holder.ts";
import { isWide } from "../src/doctor/settings/exposure.ts";
import { settingsFindings } from "../src/doctor/settings/checks.ts";
import type { Settings } from "../src/doctor/settings/settings.ts";

const NONE = { effective: "none", chosenNone: false, wanted: "auto", tried: new Map(), inTheWay: [], reasons: [] };
const CONFINED = { effective: "userns", chosenNone: false, unenforced: [], reasons: [], tried: new Map() } as const;

async function judged(
  toml: string,
  sandbox: object = NONE,
  workspace?: string,
  ingress?: Settings["ingress"],
): Promise<Finding[]> {
  using folder = temporaryHome();
  const home = homeOf({ SVC_HOME: folder.path });
  writeFileSync(join(folder.path, "config.toml"), toml, { mode: 0o600 });
  const config = await loadConfig({ home, env: {}, features: [], catalogue: [] });
  const workspaces = new Map([["default", workspace === undefined ? home.workspace : join(home.root, workspace)]]);
  const profile = "minimal";
  const settings = {
    home,
    config,
    profile,
    workspaces,
    catalogue: [],
    features: [],
    sandbox: sandbox as never,
    ingress,
  };
  return settingsFindings(settings, { security: true });
}

const worst = (findings: readonly Finding[], id: string): string => {
  const levels = new Set<string>(findings.filter((finding) => finding.id === id).map(({ level }) => level));
  return ["error", "warning", "note", "ok"].find((level) => levels.has(level)) ?? "none";
};

const MODEL = '[model]\nprovider = "openai"\nname = "m"\napi_key = "k"\n';
const PRICE = "[prices.m]\ninput_per_million = 1\noutput_per_million = 2\n";
const AGENT = "[agents.ops]\n";

test.each([
  [undefined, []],
  [{}, []],
  [{ messages: { locked: 0 } }, ["ok"]],
  [{ messages: { locked: 3 } }, ["warning"]],
])("encrypted messages without keys are told, as far as the daemon counts them: %j", async (status, levels) => {
  const found = await lockedMessages.find({ daemon: async () => ({ status }) } as never, new AbortController().signal);
  expect(found.map(({ level }) => level)).toEqual(levels);
});

describe("settings", () => {
  test.each([
    ["model", "", "warning"],
    ["model", MODEL, "ok"],
    ["secrets-short", MODEL, "warning"],
    ["secrets-short", MODEL.replace('"k"', '"long"'), "ok"],
    ["secrets-short", MODEL.replace('"k"', '" k   "'), "warning"],
    ["price", MODEL, "warning"],
    ["price", MODEL + PRICE, "ok"],
    ["price", "", "none"],
    ["budget", `${MODEL}${PRICE}[agent]\nmax_cost_per_day = 5\n`, "ok"],
    ["budget", `${MODEL}${PRICE}[agent]\nmax_cost_per_day = 5\nclient_max_cost_per_day = 1\n`, "ok"],
    ["public-url", "", "ok"],
    ["public-url", '[gateway]\npublic_url = "https://svc.example.org"\n', "ok"],
    ["public-url", '[gateway]\npublic_url = "http://svc.example.org"\n', "warning"],
    ["require-pairing", "", "ok"],
    ["require-pairing", "[gateway]\nrequire_pairing = false\n", "warning"],
    ["require-pairing", '[gateway]\nrequire_pairing = false\npublic_url = "https://a.example.org"\n', "error"],
    ["public-bind", "", "ok"],
    ["public-bind", '[gateway]\nhost = "0.0.0.0"\nallow_public_bind = true\n', "warning"],
    ["require-pairing", "[gateway]\nrequire_pairing = false\nrequire_signatures = true\n", "ok"],
    ["webhook-secret", "", "note"],
    ["webhook-secret", '[channels_config.webhook]\nsecret = "s"\n', "ok"],
    ["webhook-secret", '[channels_config.webhook]\nsecret = "  "\n', "note"],
    ["webhook-secret", "[gateway]\nrequire_pairing = false\n", "warning"],
    // It asks nothing more of who has a token, and refuses everybody else.
    ["webhook-secret", "[gateway]\nrequire_signatures = true\n", "note"],
    ["webhook-secret", "[gateway]\nrequire_pairing = false\nrequire_signatures = true\n", "ok"],
    ["allow-private", '[security.net]\nallow_private = ["10.0.0.1:80"]\n', "warning"],
    ["trusted-proxies", "", "ok"],
    ["trusted-proxies", "[gateway]\ntrust_forwarded_headers = true\n", "ok"],
    ["trusted-proxies", '[gateway]\ntrust_forwarded_headers = true\ntrusted_proxies = ["0.0.0.0/0"]\n', "error"],
    [
      "trusted-proxies",
      '[gateway]\ntrust_forwarded_headers = true\nhost = "0.0.0.0"\nallow_public_bind = true\n',
      "warning",
    ],
    ["autonomy", "", "ok"],
    ["autonomy", '[security.policy]\nautonomy = "full"\n', "error"],
    ["autonomy", `${AGENT}policy = { autonomy = "full" }\n`, "error"],
    ["allowed-commands", '[security.policy]\nallowed_commands = ["*"]\n', "error"],
    ["allowed-commands", '[security.policy]\nallowed_commands = ["ls"]\n', "ok"],
    ["workspace-only", "[security.policy]\nworkspace_only = false\n", "warning"],
    ["workspace-only", "", "note"],
    ["workspace-only", '[security.policy]\nautonomy = "read_only"\n', "ok"],
    ["sandbox", "", "warning"],
    ["sandbox", '[security.policy]\nautonomy = "read_only"\n', "ok"],
    ["sandbox", '[tools]\ndisabled = ["shell"]\n', "ok"],
    ["sandbox", `[tools]\ndisabled = ["shell"]\n${AGENT}policy = { autonomy = "full" }\n`, "ok"],
    ["sandbox", `[security.policy]\nautonomy = "read_only"\n${AGENT}policy = { autonomy = "supervised" }\n`, "warning"],
    ["sandbox-network", "", "none"],
  ])("%s of %j is %s", async (id, toml, level) => {
    expect(worst(await judged(toml), id)).toBe(level);
  });

  test("inside a sandbox autonomy is no error; one that is required and missing is", async () => {
    const open = '[security.policy]\nautonomy = "full"\nallowed_commands = ["*"]\n';
    const confined = await judged(open, CONFINED);
    expect([worst(confined, "autonomy"), worst(confined, "allowed-commands")]).toEqual(["ok", "warning"]);
    const refused = await judged(open, { ...NONE, effective: "unavailable", warning: "No sandbox." });
    expect([worst(refused, "sandbox"), worst(refused, "autonomy")]).toEqual(["error", "error"]);
  });

  test("which sandbox it is and why is said, and each default limit that it can't hold", async () => {
    const reasons = ["fsrestrict: it can't hold security.sandbox.pids here"];
    const findings = await judged("", { ...CONFINED, unenforced: ["memoryMb"], reasons });
    const messages = findings
      .filter(({ id }) => id.startsWith("sandbox"))
      .map(({ id, message }) => `${id}: ${message}`);
    expect(messages).toContain(
      "sandbox: Commands run in the sandbox userns. Fsrestrict: it can't hold security.sandbox.pids here.",
    );
    expect(messages).toContain(
      "sandbox-limits: The sandbox userns can't hold the default of security.sandbox.memory_mb here.",
    );
    expect(worst(findings, "sandbox-limits")).toBe("note");
  });

  test("inside a sandbox the workspace holds commands too, and the network is told of where they have it", async () => {
    const closed = await judged("", CONFINED);
    expect([worst(closed, "workspace-only"), worst(closed, "sandbox-network")]).toEqual(["ok", "ok"]);
    expect(worst(await judged("[security.sandbox]\nnetwork = true\n", CONFINED), "sandbox-network")).toBe("note");
  });

  test.each([
    ["workspace", "ok"],
    ["elsewhere/deep", "ok"],
    ["../elsewhere", "ok"],
    ["..data", "ok"],
    [".", "error"],
    ["..", "error"],
    ["state", "error"],
    ["state/deeper", "error"],
    ["logs", "error"],
  ])("a workspace at %s is %s", async (workspace, level) => {
    expect(worst(await judged("", NONE, workspace), "workspace")).toBe(level);
  });

  test("every finding that is not ok says what fixes it, in the key of the agent it is about", async () => {
    const toml = `${MODEL}${AGENT}policy = { autonomy = "full", workspace_only = false, allowed_commands = ["*"] }\n`;
    const findings = await judged(toml);
    for (const { level, fix } of findings) expect(fix === undefined).toBe(level === "ok");
    const fixes = findings.map(({ fix }) => fix ?? "").join("\n");
    for (const key of ["autonomy", "workspace_only", "allowed_commands"]) {
      expect(fixes).toContain(`agents.ops.policy.${key}`);
    }
  });
});

test.each([
  ["127.0.0.0/8", false],
  ["10.0.0.0/8", false],
  ["10.1.2.3", false],
  ["10.0.0.0/7", true],
  ["192.168.0.0/15", true],
  ["203.0.113.0/24", false],
  ["203.0.113.0/23", true],
  ["0.0.0.0/0", true],
  ["fc00::/7", false],
  ["fc00::/6", true],
  ["2001:db8::/48", false],
  ["2001:db8::/47", true],
  ["::/0", true],
  ["::1", false],
])("%s holds strangers: %s", (block, wide) => {
  expect(isWide(block)).toBe(wide);
});

test("a clock that is years off, or behind what was kept already", () => {
  const now = Date.UTC(2026, 5, 1);
  const levels = [
    clockFinding(now, undefined),
    clockFinding(now, now),
    clockFinding(now, now + 59_000),
    clockFinding(now, now + 61_000),
    clockFinding(0, undefined),
    clockFinding(Date.UTC(2150, 0, 1), undefined),
  ].map(({ level }) => level);
  expect(levels).toEqual(["ok", "ok", "ok", "error", "error", "error"]);
});

test("room on the disk: enough, little, none, unknown", () => {
  const levels = [5e9, 5e8, 5e7, 0, undefined].map((free) => spaceFinding(free, "/h").level);
  expect(levels).toEqual(["ok", "warning", "error", "error", "warning"]);
});

test("the holder of a lock: writers of that inode only", () => {
  const locks = [
    "1: POSIX  ADVISORY  WRITE 4242 08:01:131 1073741824 1073741824",
    "2: POSIX  ADVISORY  READ  4243 08:01:131 1073741826 1073742335",
    "3: POSIX  ADVISORY  WRITE 4244 08:01:1310 0 EOF",
    "4: OFDLCK ADVISORY  WRITE 4242 00:1f:131 0 EOF",
    "5: -> POSIX  ADVISORY  WRITE 9 08:01:131 0 EOF",
    "",
  ].join("\n");
  expect(holdersOf(locks, 131)).toEqual([4242]);
  fc.assert(fc.property(fc.string(), fc.nat(), (text, inode) => Array.isArray(holdersOf(text, inode))));
});

test("of what another process sends only findings are taken", () => {
  const good = { id: "a", level: "ok", message: "m" };
  expect(findingsIn([good, { ...good, level: "fatal" }, { ...good, id: 1 }, { ...good, fix: 1 }, null, "x"])).toEqual([
    good,
  ]);
  fc.assert(fc.property(fc.anything(), (value) => Array.isArray(findingsIn(value))));
});
