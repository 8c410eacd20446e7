// Which sandbox is in force, and what is said when it is not the one asked for.
import { describe, expect, test } from "vitest";
import type { Confinement, Logger, SandboxBackend, SandboxLimit } from "@svc/contract";
import { chooseSandbox, createNoneBackend, probeSandbox } from "../src/sandbox/choose-sandbox.ts";
import { createExec } from "../src/sandbox/exec.ts";

const said: string[] = [];
const log: Logger = { debug() {}, info() {}, warn: (message) => said.push(message), error() {} };
const ENDED = { exitCode: 0, signal: null, stdout: "", stderr: "", truncated: false, timedOut: false };
const session = { exec: async () => Promise.reject(new Error("not run here")), close: async () => undefined };

const backend = (id: string, reason?: string, unenforced: SandboxLimit[] = []): SandboxBackend => ({
  id,
  probe: async () => (reason === undefined ? { available: true, unenforced } : { available: false, reason }),
  open: async () => session,
});
const confinement: Confinement = {
  workspace: "/",
  network: false,
  readable: [],
  writable: [],
  hidden: [],
  limits: {},
};

const DEFAULTS: Config = {
  enabled: true,
  backend: "auto",
  required: false,
  network: false,
  timeout_secs: 120,
  readable: [],
  writable: [],
};
type Config = Parameters<typeof chooseSandbox>[0]["config"];
const choose = (config: Partial<Config>, backends: SandboxBackend[], more = {}) =>
  chooseSandbox({
    config: { ...DEFAULTS, ...config },
    confinement,
    backends,
    log,
    signal: new AbortController().signal,
    ...more,
  });

describe("auto", () => {
  test("takes the strongest that is available", async () => {
    const all = ["container", "jail", "userns", "fsrestrict"].map((id) => backend(id));
    expect(await choose({}, all)).toMatchObject({ effective: "fsrestrict", chosenNone: false });
    expect(await choose({}, [backend("userns"), backend("fsrestrict", "kernel too old")])).toMatchObject({
      effective: "userns",
    });
  });

  test("says what was tried before the one that is taken, and what that one is to be told of", async () => {
    const noted: SandboxBackend = {
      ...backend("userns"),
      probe: async () => ({ available: true, unenforced: [], notes: ["cpu_secs holds for each process"] }),
    };
    const choice = await choose({}, [noted, backend("fsrestrict", "kernel too old")]);
    expect(choice.reasons).toEqual(["fsrestrict: kernel too old", "cpu_secs holds for each process"]);
  });

  test("does not ask the weaker ones once one is taken", async () => {
    const asked: string[] = [];
    const watched = ["container", "jail", "userns"].map((id): SandboxBackend => {
      const plain = backend(id);
      return { ...plain, probe: (...how) => (asked.push(id), plain.probe(...how)) };
    });
    await choose({}, watched);
    expect(asked).toEqual(["userns"]);
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
  expect(choice).toMatchObject({ effective: "none", chosenNone: true, backend: { id: "none" }, reasons: [] });
  expect(choice.warning).toBeUndefined();
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

describe("limits that a backend can't hold", () => {
  test("one that is written down makes it unavailable, and the next one is taken", async () => {
    const choice = await choose({ pids: 10 }, [backend("fsrestrict", undefined, ["pids"]), backend("userns")]);
    expect(choice).toMatchObject({ effective: "userns", unenforced: [] });
    expect(choice.reasons).toEqual(["fsrestrict: it can't hold security.sandbox.pids here"]);
    const refused = await choose({ pids: 10, required: true }, [backend("fsrestrict", undefined, ["pids"])]);
    expect(refused).toMatchObject({ effective: "unavailable" });
    expect(refused.warning).toContain("security.sandbox.pids");
  });

  test("a default one is not asked of it, and said", async () => {
    const asked: Confinement[] = [];
    const weak: SandboxBackend = {
      ...backend("fsrestrict", undefined, ["memoryMb"]),
      open: async (wanted) => (asked.push(wanted), { ...session, exec: async () => ENDED }),
    };
    const choice = await choose({ pids: 10 }, [weak]);
    expect(choice).toMatchObject({ effective: "fsrestrict", unenforced: ["memoryMb"] });
    const parts = { choice, config: { ...DEFAULTS, pids: 10 }, workspace: "/", hidden: [] };
    await createExec(parts as never)({ command: "true" });
    expect(asked[0]?.limits).toEqual({ pids: 10, timeoutSecs: 120 });
  });
});

describe("while it is probed", () => {
  test("nothing runs by it, and a command waits for the verdict", async () => {
    const verdict = Promise.withResolvers<void>();
    const steps: string[] = [];
    const slow: SandboxBackend = {
      ...backend("userns"),
      probe: () => verdict.promise.then(() => (steps.push("probed"), { available: true, unenforced: [] })),
      open: async () => (steps.push("opened"), { ...session, exec: async () => ENDED }),
    };
    const { signal } = new AbortController();
    const sandbox = probeSandbox({ config: DEFAULTS, confinement, backends: [slow], log, signal });
    expect(sandbox.choice).toMatchObject({ effective: "probing", chosenNone: false });
    await expect(sandbox.choice.backend.open(confinement)).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    const exec = createExec({ choice: sandbox.verdict, config: DEFAULTS, workspace: "/", hidden: [] });
    const ended = exec({ command: "true" });
    verdict.resolve();
    expect(await ended).toEqual(ENDED);
    expect(steps).toEqual(["probed", "opened"]);
    expect(sandbox.choice).toMatchObject({ effective: "userns" });
  });

  test("nothing is tried before the daemon serves, and a command waits", async () => {
    const served = Promise.withResolvers<void>();
    let probes = 0;
    const counted: SandboxBackend = {
      ...backend("userns"),
      probe: async () => ((probes += 1), { available: true, unenforced: [] }),
      open: async () => ({ ...session, exec: async () => ENDED }),
    };
    const { signal } = new AbortController();
    const options = { config: DEFAULTS, confinement, backends: [counted], log, signal };
    const sandbox = probeSandbox(options, served.promise);
    const exec = createExec({ choice: sandbox.verdict, config: DEFAULTS, workspace: "/", hidden: [] });
    const ended = exec({ command: "true" });
    await new Promise((resolve) => setImmediate(resolve));
    expect([probes, sandbox.choice.effective]).toEqual([0, "probing"]);
    served.resolve();
    expect(await ended).toEqual(ENDED);
    expect(probes).toBe(1);
  });

  test("an end of the daemon refuses the commands that wait", async () => {
    const end = new AbortController();
    const hanging: SandboxBackend = { ...backend("userns"), probe: () => new Promise(() => {}) };
    const sandbox = probeSandbox({ config: DEFAULTS, confinement, backends: [hanging], log, signal: end.signal });
    const exec = createExec({ choice: sandbox.verdict, config: DEFAULTS, workspace: "/", hidden: [] });
    const ended = exec({ command: "true" });
    end.abort(new Error("the daemon ends"));
    await expect(ended).rejects.toThrow("the daemon ends");
    expect(sandbox.choice).toMatchObject({ effective: "probing" });
  });
});

describe("a workspace that no sandbox can be used in", () => {
  const obstacle = "the workspace belongs to root";

  test("none is tried, and commands run without one or not at all", async () => {
    const untried = { ...backend("userns"), probe: () => Promise.reject(new Error("tried")) };
    const choice = await choose({}, [untried], { obstacle });
    expect(choice).toMatchObject({ effective: "none", chosenNone: false });
    expect(choice.warning).toContain(obstacle);
    expect(await choose({ required: true }, [untried], { obstacle })).toMatchObject({ effective: "unavailable" });
  });

  test("of an agent alone: its commands are refused, and not run without a sandbox", async () => {
    const choice = await choose({}, [backend("userns")]);
    const parts = { choice, config: DEFAULTS, workspace: "/", hidden: [], obstacle };
    await expect(createExec(parts as never)({ command: "true" })).rejects.toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      message: expect.stringContaining(obstacle),
    });
  });
});

test("none refuses limits that it can't keep", async () => {
  for (const limits of [{ memoryMb: 1 }, { cpuSecs: 1 }, { pids: 1 }]) {
    await expect(createNoneBackend().open({ ...confinement, limits })).rejects.toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
    });
  }
});
