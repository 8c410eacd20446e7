// What confines commands is told the same at the start, by svc status, the API, svc doctor and the page, with one fix.
import type { SandboxChoice } from "@svc/agent";
import type { CatalogueEntry } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { sandboxFeatureState, sandboxState } from "../src/service/sandbox-state.ts";

const entry = (backend: string, included: boolean, platforms = ["linux"]): CatalogueEntry => ({
  id: `sandbox-${backend}`,
  flag: `sandbox-${backend}`,
  kind: "sandbox",
  summary: "",
  included,
  planned: false,
  profiles: [],
  build: `npx pnpm build home --with sandbox-${backend}`,
  sections: [],
  tools: [],
  ingress: [],
  routes: [],
  open: [],
  commands: [],
  children: [],
  native: [],
  platforms,
});

const MINIMAL = [
  entry("container", true, []),
  entry("fsrestrict", false),
  entry("jail", true),
  entry("seatbelt", false, ["darwin"]),
  entry("userns", false),
];
const HOME = MINIMAL.map((one) => (one.id === "sandbox-fsrestrict" ? { ...one, included: true } : one));
const MISSING = new Map([
  ["jail", "firejail is not installed: install the package firejail"],
  ["container", "neither podman nor docker is installed: install one of them"],
]);
const KERNEL = "the kernel has no Landlock, which came with Linux 5.13 (CONFIG_SECURITY_LANDLOCK=y)";

const choice = (more: Partial<SandboxChoice>): SandboxChoice => ({
  backend: { id: "none" } as never,
  effective: "none",
  chosenNone: false,
  unenforced: [],
  reasons: [],
  tried: MISSING,
  wanted: "auto",
  inTheWay: [],
  warning: "No sandbox is available (…): commands run without one.",
  ...more,
});

const fixIn = (more: Partial<SandboxChoice>, catalogue = MINIMAL, platform = "linux") =>
  sandboxState(choice(more), { catalogue }, platform).fix;

describe("the fix where no sandbox is in force", () => {
  test("is the build that has the kernel's, where the build has it not", () => {
    expect(fixIn({})).toBe("npx pnpm build home --with sandbox-fsrestrict");
  });

  test("is what to install, where the kernel can't", () => {
    const tried = new Map([["fsrestrict", KERNEL], ...MISSING]);
    expect(fixIn({ tried }, HOME)).toBe(
      "install podman with the image debian:stable-slim or firejail, then: svc restart",
    );
    const installed = new Map([["fsrestrict", KERNEL]]);
    expect(fixIn({ tried: installed }, HOME)).toBe("npx pnpm build home --with sandbox-userns, and install bubblewrap");
  });

  test("is the config's own line, where the config stands in the way", () => {
    const [enabled, backend] = ["security.sandbox.enabled = true", 'security.sandbox.backend = "auto"'] as const;
    expect(fixIn({ wanted: "off", inTheWay: [enabled] })).toBe(`set ${enabled}`);
    expect(fixIn({ wanted: "off", inTheWay: [enabled, backend], chosenNone: true })).toBe(
      `set ${enabled} and ${backend}`,
    );
    expect(fixIn({ wanted: "seatbelt" })).toBe('set security.sandbox.backend = "auto"');
    expect(fixIn({ chosenNone: true, wanted: "none", inTheWay: [backend] })).toBe(
      'set security.sandbox.backend = "auto"',
    );
    expect(fixIn({ obstacle: "the workspace is root's: chown it" })).toBe(
      "do what the sentence says, then: svc restart",
    );
  });

  test("is honest where nothing is written for the system", () => {
    expect(fixIn({ tried: new Map() }, [entry("fsrestrict", true)], "win32")).toMatch(/none is written/);
  });

  test("is there too where commands are refused for want of one", () => {
    const warning = "A sandbox is required: commands are refused.";
    const state = sandboxState(choice({ effective: "unavailable", warning }), { catalogue: HOME }, "linux");
    expect(state).toMatchObject({ confined: false, summary: warning, fix: expect.stringContaining("firejail") });
  });
});

test("where one is in force there is nothing to fix, and the reasons are sentences", () => {
  const reasons = ["fsrestrict: it can't hold security.sandbox.pids here"];
  const { warning: _, ...confined } = choice({ effective: "userns", reasons });
  expect(sandboxState(confined, { catalogue: HOME }, "linux")).toEqual({
    effective: "userns",
    confined: true,
    summary: "Commands run in the sandbox userns.",
    fix: null,
    warning: null,
    reasons: ["Fsrestrict: it can't hold security.sandbox.pids here."],
  });
});

test("a sandbox that was tried or is not needed is off, with the reason; the one in force is as its life says", () => {
  const inForce = choice({ effective: "jail", tried: new Map([["fsrestrict", KERNEL]]) });
  expect(sandboxFeatureState(entry("fsrestrict", true), inForce)).toEqual({ state: "off", reason: KERNEL });
  expect(sandboxFeatureState(entry("jail", true), inForce)).toBeUndefined();
  expect(sandboxFeatureState(entry("container", true), inForce)).toEqual({
    state: "off",
    reason: "not needed: jail is in force",
  });
  expect(sandboxFeatureState(entry("jail", true), choice({ effective: "probing" }))).toEqual({
    state: "probing",
    reason: null,
  });
});
