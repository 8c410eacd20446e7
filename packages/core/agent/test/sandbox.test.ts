// Which sandbox is in force, and what is said when it is not the one asked for.
import { describe, expect, test } from "vitest";
import type { Logger, SandboxBackend } from "@svc/contract";
import { chooseSandbox } from "../src/sandbox/choose-sandbox.ts";
import { createNoneBackend } from "../src/sandbox/none-backend.ts";

const said: string[] = [];
const log: Logger = { debug() {}, info() {}, warn: (message) => said.push(message), error() {} };
const session = { exec: async () => Promise.reject(new Error("not run here")), close: async () => undefined };

const backend = (id: string, reason?: string): SandboxBackend => ({
  id,
  probe: async () => (reason === undefined ? { available: true } : { available: false, reason }),
  open: async () => session,
});

type Config = Parameters<typeof chooseSandbox>[0]["config"];
const choose = (config: Partial<Config>, backends: SandboxBackend[], more = {}) =>
  chooseSandbox({
    config: { enabled: true, backend: "auto", required: false, network: false, timeout_secs: 120, ...config },
    backends,
    log,
    signal: new AbortController().signal,
    ...more,
  });

const confinement = { workspace: "/", network: false, readable: [], writable: [], hidden: [], limits: {} };

describe("auto", () => {
  test("takes the strongest that is available", async () => {
    const all = ["container", "jail", "userns", "fsrestrict"].map((id) => backend(id));
    expect(await choose({}, all)).toMatchObject({ effective: "fsrestrict", chosenNone: false });
    expect(await choose({}, [backend("userns"), backend("fsrestrict", "kernel too old")])).toMatchObject({
      effective: "userns",
    });
  });

  test("falls back to none and says why", async () => {
    const choice = await choose({}, [backend("fsrestrict", "kernel too old")]);
    expect(choice).toMatchObject({ effective: "none", chosenNone: false, backend: { id: "none" } });
    expect(choice.warning).toContain("kernel too old");
    expect(said).toContain(choice.warning);
    expect((await choose({}, [])).warning).toContain("this build has no such backend");
  });
});

test("what is asked for is taken, not something stronger", async () => {
  expect(await choose({ backend: "jail" }, [backend("fsrestrict"), backend("jail")])).toMatchObject({
    effective: "jail",
  });
});

test("asked for and unavailable: none, with a warning", async () => {
  const choice = await choose({ backend: "jail" }, [backend("fsrestrict"), backend("jail", "not installed")]);
  expect(choice).toMatchObject({
    effective: "none",
    chosenNone: false,
    warning: expect.stringContaining("not installed"),
  });
});

test("none by choice is no warning", async () => {
  const choice = await choose({ backend: "none" }, [backend("fsrestrict")]);
  expect(choice).toEqual({ effective: "none", chosenNone: true, backend: expect.objectContaining({ id: "none" }) });
});

test("enabled = false is none, but not a choice that lets shell run unasked", async () => {
  expect(await choose({ enabled: false }, [backend("fsrestrict")])).toMatchObject({
    effective: "none",
    chosenNone: false,
  });
});

describe("required = true refuses commands", () => {
  test.each([
    [{ backend: "jail" }, [backend("jail", "not installed")]],
    [{ backend: "auto" }, []],
    [{ backend: "none" }, []],
    [{ enabled: false }, [backend("fsrestrict")]],
  ] as const)("%o", async (config, backends) => {
    const choice = await choose({ ...config, required: true }, [...backends]);
    expect(choice).toMatchObject({ effective: "unavailable", chosenNone: false });
    await expect(choice.backend.open(confinement)).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
  });

  test("not when the backend is there", async () => {
    expect(await choose({ required: true }, [backend("fsrestrict")])).toMatchObject({ effective: "fsrestrict" });
  });
});

describe("a check that misbehaves counts as unavailable", () => {
  test("it throws", async () => {
    const broken = { ...backend("jail"), probe: async () => Promise.reject(new Error("broken")) };
    expect(await choose({ backend: "jail" }, [broken])).toMatchObject({ effective: "none" });
  });

  test("it never answers", async () => {
    const mute = { ...backend("jail"), probe: () => new Promise<never>(() => undefined) };
    const clock = { after: (_ms: number, run: () => void) => (queueMicrotask(run), () => undefined) };
    expect(await choose({ backend: "jail" }, [mute], { clock })).toMatchObject({ effective: "none" });
  });
});

test("none refuses limits that it can't keep", async () => {
  for (const limits of [{ memoryMb: 1 }, { cpuSecs: 1 }, { pids: 1 }]) {
    await expect(createNoneBackend().open({ ...confinement, limits })).rejects.toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
    });
  }
});
